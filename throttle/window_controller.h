// The formula of event throttles taken literally: one probability per fixed window, for comparison with Controller.
//
//   P_w = (S_target + S_budget) / N_w
// S_target: c * cap / 5, a window's part of the interval. S_budget: sum of S_target - S_i over the windows of the same
// interval so far, S_i the points they got: what is left over is spent, what was overspent is saved. N_w: the bytes of
// a window, averaged exponentially over k = 5 windows.
//
// Units:    as Controller.
// Context:  drain.
// Threads:  one.
// Failure:  none: late ticks, clocks and totals that go back are taken. After overspending a tenth of S_target is left:
//           with P_w = 0 what is allocated could not be estimated.
// Maths:    docs/sampler.md#the-window-rule
#pragma once

#include <cstdint>

#include "throttle/controller.h"

namespace heaprec::throttle {

inline constexpr uint64_t kWindowsPerInterval = 5;

class WindowController {
 public:
  WindowController(const ControllerConfig& config, uint64_t start_ns);
  // As Controller's. P_w changes at the first tick of a window only: there should be several in each.
  Forecast Tick(uint64_t now_ns, uint64_t total_bytes, PointSums points = {});
  const ControllerConfig& config() const { return config_; }

 private:
  void CloseUntil(uint64_t window);
  uint64_t WindowAt(uint64_t now_ns) const;
  double Target() const;
  double Due() const;

  ControllerConfig config_;
  uint64_t start_ns_, last_ns_;
  uint64_t last_total_ = 0;
  uint64_t window_ = 0;                            // since the start
  double bytes_ = 0, points_ = 0, effective_ = 0;  // of the window
  double budget_ = 0;
  double forecast_;  // N_w
};

}  // namespace heaprec::throttle
