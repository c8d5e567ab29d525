#include "format/model/allocation_primitives.h"

#include <algorithm>
#include <array>

namespace heaprec::format {
namespace {

// Methods that HotSpot of JDK 8 to 25 inlines, expands as an intrinsic, or links through hidden frames, and methods
// that only return a fresh object.
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

}  // namespace

std::span<const std::string_view> AllocationPrimitives::DefaultPatterns() { return kDefault; }

AllocationPrimitives AllocationPrimitives::Default() {
  AllocationPrimitives all;
  for (const std::string_view pattern : kDefault) all.Add(pattern);
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

bool AllocationPrimitives::HasMethod(std::string_view class_name, std::string_view name) const {
  std::array<char, 256> text;  // longer than any pattern
  class_name = class_name.substr(0, text.size() - 1);
  char* end = std::ranges::replace_copy(class_name, text.data(), '/', '.').out;
  *end++ = '.';
  name = name.substr(0, static_cast<size_t>(text.data() + text.size() - end));
  end = std::ranges::copy(name, end).out;
  return Contains({text.data(), end});
}

}  // namespace heaprec::format
