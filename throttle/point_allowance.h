// points=max: how many points a second take 1 % of the CPU time that the program uses.
//
// Units:    ns of the caller's clock, and of CPU time.
// Threads:  one.
// Failure:  none: a clock or a CPU time that falls leaves the allowance as it is.
// Maths:    docs/sampler.md#light-points
#pragma once

#include <cstdint>

namespace heaprec::throttle {

class PointAllowance {
 public:
  // A point takes `cost_ns` of CPU time. The allowance is between `least` (the first one) and `most`, per second.
  PointAllowance(double cost_ns, double least, double most)
      : cost_ns_(cost_ns), least_(least), most_(most), allowed_(least) {}
  // `cpu_ns`: that of the process so far. Returns the points per second for the time up to the next call.
  double Update(uint64_t now_ns, uint64_t cpu_ns);

 private:
  double cost_ns_, least_, most_, allowed_;
  uint64_t last_ns_ = 0, last_cpu_ns_ = 0;  // 0: there was no call
};

}  // namespace heaprec::throttle
