// Controller or WindowController, depending on the configuration, for WindowPublisher.
//
// Units, context, threads, failure: as Controller.
#pragma once

#include <cstdint>
#include <variant>

#include "throttle/controller.h"

namespace heaprec::throttle {

inline constexpr uint64_t kWindowsPerInterval = 5;

// The usual formula of event throttles, with one probability per fixed window, for comparison with Controller.
//
//   P_w = (S_target + S_budget) / N_w
// S_target: c * cap / 5, a window's part of the interval. S_budget: sum of S_target - S_i over the earlier windows of
// the interval, where S_i is their number of points, so that unused points are used later and excess is compensated.
// N_w: the bytes of a window, averaged exponentially over k = 5 windows.
//
// Units:    as Controller.
// Context:  drain.
// Failure:  none: accepts late ticks, and clocks and totals that decrease. After an excess a tenth of S_target remains:
//           with P_w = 0 allocations could not be estimated.
// Maths:    docs/sampler.md#the-window-rule
class WindowController {
 public:
  WindowController(const ControllerConfig& config, uint64_t start_ns);
  // As Controller::Tick. P_w changes only at the first tick of a window, so a window should have several ticks.
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
  uint64_t window_ = 0;                            // number since the start
  double bytes_ = 0, points_ = 0, effective_ = 0;  // sums of the window
  double budget_ = 0;
  double forecast_;  // N_w
};

// points=max: determines how many points per second take 1 % of the program's CPU time.
//
// Units:    ns of the caller's clock, and of CPU time.
// Failure:  none: if a clock or the CPU time decreases, the allowance does not change.
// Maths:    docs/sampler.md#light-points
class PointAllowance {
 public:
  // A point takes `cost_ns` of CPU time. The allowance is between `least` (the first one) and `most`, per second.
  PointAllowance(double cost_ns, double least, double most)
      : cost_ns_(cost_ns), least_(least), most_(most), allowed_(least) {}
  // `cpu_ns`: CPU time of the process so far. Returns the points per second until the next call.
  double Update(uint64_t now_ns, uint64_t cpu_ns);

 private:
  double cost_ns_, least_, most_, allowed_;
  uint64_t last_ns_ = 0, last_cpu_ns_ = 0;  // 0: no call yet
};

class Throttle {
 public:
  Throttle(const ControllerConfig& config, uint64_t start_ns) : rule_(Controller(config, start_ns)) {
    if (config.rule == Rule::kWindow) rule_ = WindowController(config, start_ns);
  }
  Forecast Tick(uint64_t now_ns, uint64_t total_bytes, PointSums points = {}) {
    return std::visit([&](auto& rule) { return rule.Tick(now_ns, total_bytes, points); }, rule_);
  }
  // Rule::kWindow has no light points.
  void SetPoints(double points) {
    if (auto* const controller = std::get_if<Controller>(&rule_)) controller->SetPoints(points);
  }
  const ControllerConfig& config() const {
    return std::visit([](const auto& rule) -> const ControllerConfig& { return rule.config(); }, rule_);
  }

 private:
  std::variant<Controller, WindowController> rule_;
};

}  // namespace heaprec::throttle
