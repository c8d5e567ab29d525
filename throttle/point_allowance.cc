#include "throttle/point_allowance.h"

#include <algorithm>

namespace heaprec::throttle {
namespace {

constexpr double kShareOfCpu = 0.01, kNsPerSecond = 1e9;

}  // namespace

double PointAllowance::Update(uint64_t now_ns, uint64_t cpu_ns) {
  if (last_ns_ != 0 && now_ns > last_ns_ && cpu_ns >= last_cpu_ns_) {
    const double cores = static_cast<double>(cpu_ns - last_cpu_ns_) / static_cast<double>(now_ns - last_ns_);
    allowed_ = std::max(least_, std::min(most_, kShareOfCpu * kNsPerSecond * cores / cost_ns_));
  }
  last_ns_ = now_ns;
  last_cpu_ns_ = cpu_ns;
  return allowed_;
}

}  // namespace heaprec::throttle
