// The usual formula of event throttles: one probability per fixed window, for comparison with Controller.
//
//   P_w = (S_target + S_budget) / N_w
// S_target: c * cap / 5, a window's part of the interval. S_budget: sum of S_target - S_i over the earlier windows of
// the interval, S_i being the points they got, so that unused points are used later and excess is compensated. N_w: the
// bytes of a window, averaged exponentially over k = 5 windows.
//
// Units:    as Controller.
// Context:  drain.
// Threads:  one.
// Failure:  none: accepts late ticks, and clocks and totals that decrease. After an excess a tenth of S_target remains:
//           with P_w = 0 allocations could not be estimated.
// Maths:    docs/sampler.md#the-window-rule
#pragma once

#include <cstdint>

#include "throttle/controller.h"

namespace heaprec::throttle {

inline constexpr uint64_t kWindowsPerInterval = 5;

class WindowController {
 public:
  WindowController(const ControllerConfig& config, uint64_t start_ns);
  // As Controller::Tick. P_w changes at the first tick of a window only, so a window should have several ticks.
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
