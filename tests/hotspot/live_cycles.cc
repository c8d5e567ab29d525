#include "tests/hotspot/live_cycles.h"

#include <cstdlib>

namespace heaprec::hotspot {

Code CodeAt(uintptr_t function) {
  constexpr size_t kBytes = 32;
  const auto* const code = reinterpret_cast<const uint8_t*>(function);  // NOLINT(performance-no-int-to-ptr)
  return {code, code + kBytes};
}

int Cycles() {
  const char* const text = getenv("HEAPREC_CYCLES");  // NOLINT(concurrency-mt-unsafe): a test
  return text != nullptr ? std::atoi(text) : 50;      // NOLINT(cert-err34-c)
}

std::string CycleDetours(const std::vector<Diverted>& all, arch::GracePeriod grace, int cycles) {
  for (int i = 0; i < cycles; ++i) {
    for (const Diverted& one : all) {
      const auto removed = one.detour->Remove();
      if (!removed) return removed.error().message;
      if (CodeAt(one.function) != one.own) return "the code is not restored";
      const auto installed = one.detour->Install(grace);
      if (!installed) return installed.error().message;
      if (CodeAt(one.function) == one.own) return "the code is not changed";
    }
  }
  return {};
}

std::string CycleSteps(const std::function<std::string()>& install, const std::function<std::string()>& remove,
                       int cycles) {
  for (int i = 0; i < cycles; ++i) {
    if (std::string problem = install(); !problem.empty()) return problem;
    if (std::string problem = remove(); !problem.empty()) return problem;
  }
  return {};
}

}  // namespace heaprec::hotspot
