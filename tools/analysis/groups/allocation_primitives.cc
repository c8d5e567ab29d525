#include "tools/analysis/groups/allocation_primitives.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace heaprec::tools {
namespace {

// In JDK 11 to 27.
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

Result<AllocationPrimitives> ReadPrimitives(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{fmt::format("--primitives {}: {}", path, std::strerror(errno))};
  AllocationPrimitives all;
  for (std::string line; std::getline(file, line);) {
    const std::string_view pattern = Trimmed(line);
    if (pattern.empty()) continue;
    if (pattern == "default") {
      for (const std::string_view one : AllocationPrimitives::DefaultPatterns()) all.Add(one);
    } else if (pattern == "*" || pattern.substr(0, pattern.size() - 1).find('*') != std::string_view::npos) {
      return Error{fmt::format(
          "--primitives {}: '{}': expected a method such as java.util.Arrays.copyOf, with '*' at its end only", path,
          pattern)};
    } else {
      all.Add(pattern);
    }
  }
  if (file.bad()) return Error{fmt::format("--primitives {}: cannot be read", path)};
  return all;
}

}  // namespace heaprec::tools
