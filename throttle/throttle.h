// Controller or WindowController, by the configuration: what WindowPublisher uses.
//
// Units, context, threads, failure: as Controller.
#pragma once

#include <cstdint>
#include <variant>

#include "throttle/controller.h"
#include "throttle/window_controller.h"

namespace heaprec::throttle {

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
