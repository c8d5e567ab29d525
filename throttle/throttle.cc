#include "throttle/throttle.h"

#include <algorithm>
#include <cmath>

namespace heaprec::throttle {
namespace {

constexpr double kAlpha = 2.0 / (5 + 1);  // k = 5 windows
constexpr double kMinDue = 0.1;

constexpr double kShareOfCpu = 0.01;

}  // namespace

WindowController::WindowController(const ControllerConfig& config, uint64_t start_ns)
    : config_(config), start_ns_(start_ns), last_ns_(start_ns) {
  config_.interval_ns = std::max<uint64_t>(config_.interval_ns, kWindowsPerInterval);
  forecast_ = config_.initial_rate * static_cast<double>(config_.interval_ns) * 1e-9 / kWindowsPerInterval;
}

// Intervals need not be multiples of five nanoseconds: the fifth window gets the rest.
uint64_t WindowController::WindowAt(uint64_t now_ns) const {
  const uint64_t since = now_ns - start_ns_, interval = since / config_.interval_ns;
  const uint64_t part = since % config_.interval_ns / (config_.interval_ns / kWindowsPerInterval);
  return interval * kWindowsPerInterval + std::min(part, kWindowsPerInterval - 1);
}

double WindowController::Target() const { return config_.oversampling * config_.cap / kWindowsPerInterval; }

double WindowController::Due() const { return std::max(Target() + budget_, kMinDue * Target()); }

// A window that the drain closes late is evaluated with everything until then, spread evenly over its real length.
void WindowController::CloseUntil(uint64_t window) {
  const double windows = static_cast<double>(window - window_);
  forecast_ += (bytes_ / windows - forecast_) * (1 - std::pow(1 - kAlpha, windows));
  const bool same_interval = window / kWindowsPerInterval == window_ / kWindowsPerInterval;
  budget_ = same_interval ? budget_ + Target() * windows - points_ : 0;
  bytes_ = points_ = effective_ = 0;
  window_ = window;
}

Forecast WindowController::Tick(uint64_t now_ns, uint64_t total_bytes, PointSums points) {
  const uint64_t now = std::max(now_ns, last_ns_), total = std::max(total_bytes, last_total_);
  bytes_ += static_cast<double>(total - last_total_);
  points_ += points.count;
  effective_ += points.effective;
  last_ns_ = now;
  last_total_ = total;
  if (const uint64_t window = WindowAt(now); window > window_) CloseUntil(window);
  const double due = Due();
  const double lambda = forecast_ * config_.lambda_max > due ? due / forecast_ : config_.lambda_max;
  return {.tick_ns = now,
          .interval_end_ns = start_ns_ + (window_ / kWindowsPerInterval + 1) * config_.interval_ns,
          .bytes_so_far = effective_,
          .window_lambda = due > 0 ? lambda : 0,
          .window_due = due};
}

double PointAllowance::Update(uint64_t now_ns, uint64_t cpu_ns) {
  if (last_ns_ != 0 && now_ns > last_ns_ && cpu_ns >= last_cpu_ns_) {
    const double cores = static_cast<double>(cpu_ns - last_cpu_ns_) / static_cast<double>(now_ns - last_ns_);
    allowed_ = std::max(least_, std::min(most_, kShareOfCpu * 1e9 * cores / cost_ns_));
  }
  last_ns_ = now_ns;
  last_cpu_ns_ = cpu_ns;
  return allowed_;
}

}  // namespace heaprec::throttle
