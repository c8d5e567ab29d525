#include "recorder/agent/options/rates.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "format/model/model.h"

namespace heaprec::agent {
namespace {

// When the allocation rate rises by a factor of 100, 1.2 x (1 + ln 100) times the cap reach the ring
// (docs/sampler.md#controller); a burst after a second without allocations brings up to 9 times the cap. 8,000 points
// of 96 bytes take up to 6.6 MiB of a ring of 7.75 MiB, which also contains the definitions.
constexpr double kMaxPerInterval = 8'000;
// Slow-path events per second of a small program.
constexpr double kInitialEventRate = 10;
// At 250 ns each this is 0.1 % of a core.
constexpr double kTouchesPerSecond = 4000;
// Only one point in 55 is farther away.
constexpr double kLargestGap = 4;

}  // namespace

throttle::ControllerConfig ControllerFor(double rate_per_second, bool unit_is_event) {
  throttle::ControllerConfig config = throttle::ConfigFor(rate_per_second, kMaxPerInterval);
  // A multiple of ticks, so that rounding does not move a sample into another interval; rounded up, so that no second
  // has more samples.
  config.interval_ns = (config.interval_ns + format::kTickNs - 1) / format::kTickNs * format::kTickNs;
  if (unit_is_event) config.initial_rate = kInitialEventRate;
  return config;
}

double MostPointsPerSecond() {
  const unsigned cpus = std::max(std::thread::hardware_concurrency(), 1U);
  return std::min(kMaxPointsPerSecond, 0.01 * 1e9 / kWalkedPointNs * cpus);
}

double MaxGapOf(const throttle::ControllerConfig& config) {
  const double seconds = static_cast<double>(config.interval_ns) * 1e-9;
  const double points_per_second = std::max(config.oversampling * config.cap, config.points) / seconds;
  // With a gap limited to m mean gaps, the thread's clock is updated 1 / (1 - exp(-m)) times per point.
  return std::min(kLargestGap, -std::log1p(-std::min(points_per_second / kTouchesPerSecond, 1.0)));
}

}  // namespace heaprec::agent
