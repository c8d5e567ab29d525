#include "tools/analysis/allocation_primitives.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace heaprec::tools {
namespace {

// What HotSpot of JDK 8 to 25 inlines, expands as an intrinsic, or links through hidden frames, and what only hands a
// fresh object on.
constexpr std::array<std::string_view, 43> kDefault{
    "java.lang.Object.clone",
    "java.lang.Class.newInstance",
    "java.lang.reflect.Array.newInstance",
    "java.lang.reflect.Array.newArray",
    "java.lang.reflect.Array.multiNewArray",
    "java.util.Arrays.copyOf",
    "java.util.Arrays.copyOfRange",
    "java.util.Arrays.copyOfRangeByte",
    "java.util.Arrays.copyOfRangeChar",
    "java.util.Arrays.copyOfRangeGeneric",
    "java.util.Arrays.copyOfGeneric",
    "jdk.internal.misc.Unsafe.allocateInstance",
    "jdk.internal.misc.Unsafe.allocateUninitializedArray",
    "jdk.internal.misc.Unsafe.allocateUninitializedArray0",
    "sun.misc.Unsafe.allocateInstance",
    "java.lang.invoke.DirectMethodHandle.allocateInstance",
    "java.lang.invoke.DirectMethodHandle$Holder.*",
    "java.lang.invoke.Invokers$Holder.*",
    "java.lang.invoke.DelegatingMethodHandle$Holder.*",
    "java.lang.invoke.LambdaForm$*",
    "java.lang.StringConcatHelper.*",
    "java.lang.StringConcatHelper$*",
    "java.lang.invoke.StringConcatFactory*",
    "java.lang.StringLatin1.newString",
    "java.lang.StringUTF16.newString",
    "java.lang.StringUTF16.newBytesFor",
    "jdk.internal.reflect.DirectConstructorHandleAccessor.newInstance",
    "jdk.internal.reflect.DirectConstructorHandleAccessor.invokeImpl",
    "jdk.internal.reflect.NativeConstructorAccessorImpl.*",
    "jdk.internal.reflect.DelegatingConstructorAccessorImpl.newInstance",
    "jdk.internal.reflect.GeneratedConstructorAccessor*",
    "jdk.internal.misc.Unsafe.allocateMemory",
    "jdk.internal.misc.Unsafe.allocateMemory0",
    "jdk.internal.misc.Unsafe.reallocateMemory",
    "jdk.internal.misc.Unsafe.reallocateMemory0",
    "sun.misc.Unsafe.allocateMemory",
    "sun.misc.Unsafe.reallocateMemory",
    "libjvm.so.Unsafe_AllocateMemory*",
    "libjvm.so.Unsafe_ReallocateMemory*",
    "libjvm.so.AllocateHeap",
    "libjvm.so.ReallocateHeap",
    "libjvm.so.os::malloc",
    "libjvm.so.os::realloc",
};

// Of JDK 11 to 27.
constexpr std::array<std::string_view, 5> kOwn{
    "libjvm.so.MemAllocator::Allocation::notify_allocation_jvmti_sampler",
    "libjvm.so.ThreadHeapSampler::",
    "libjvm.so.JvmtiSampledObjectAllocEventCollector::",
    "libjvm.so.JvmtiExport::record_sampled_internal_object_allocation",
    "libjvm.so.JvmtiExport::post_sampled_object_alloc",
};

std::string_view Trimmed(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

bool AllocatesForSampling(std::string_view method) {
  return std::ranges::any_of(kOwn, [method](std::string_view prefix) { return method.starts_with(prefix); });
}

std::span<const std::string_view> AllocationPrimitives::DefaultPatterns() { return kDefault; }

AllocationPrimitives AllocationPrimitives::Default() {
  AllocationPrimitives all;
  for (const std::string_view pattern : kDefault) all.Add(pattern);
  return all;
}

format::Result<AllocationPrimitives> AllocationPrimitives::Read(const std::string& path) {
  std::ifstream file(path);
  if (!file) return format::Error{fmt::format("--primitives {}: {}", path, std::strerror(errno))};
  AllocationPrimitives all;
  for (std::string line; std::getline(file, line);) {
    const std::string_view pattern = Trimmed(line);
    if (pattern.empty()) continue;
    if (pattern == "default") {
      for (const std::string_view one : kDefault) all.Add(one);
    } else if (pattern == "*" || pattern.substr(0, pattern.size() - 1).find('*') != std::string_view::npos) {
      return format::Error{fmt::format(
          "--primitives {}: '{}': expected a method such as java.util.Arrays.copyOf, with '*' at its end only", path,
          pattern)};
    } else {
      all.Add(pattern);
    }
  }
  if (file.bad()) return format::Error{fmt::format("--primitives {}: cannot be read", path)};
  return all;
}

void AllocationPrimitives::Add(std::string_view pattern) {
  if (pattern.ends_with('*')) {
    prefixes_.emplace_back(pattern.substr(0, pattern.size() - 1));
  } else {
    exact_.emplace(pattern);
  }
}

bool AllocationPrimitives::Contains(std::string_view method) const {
  if (exact_.contains(method)) return true;
  return std::ranges::any_of(prefixes_, [method](const std::string& prefix) { return method.starts_with(prefix); });
}

}  // namespace heaprec::tools
