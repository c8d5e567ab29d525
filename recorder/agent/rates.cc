#include "recorder/agent/rates.h"

namespace heaprec::agent {
namespace {

// 20,000 points of 88 bytes and a fifth on top are 2.1 MiB: half of the ring, which also holds the definitions.
constexpr double kMostPerInterval = 20'000;
// Recordings keep times in ticks of 64 ns (docs/format.md#conventions): an interval of whole ticks keeps every sample
// in its own interval. Rounded up, so that no second holds more.
constexpr uint64_t kTickNs = 64;
// Slow-path events per second of a small program.
constexpr double kInitialEventRate = 10;

}  // namespace

throttle::ControllerConfig ControllerFor(double rate_per_second, bool unit_is_event) {
  throttle::ControllerConfig config = throttle::ConfigFor(rate_per_second, kMostPerInterval);
  config.interval_ns = (config.interval_ns + kTickNs - 1) / kTickNs * kTickNs;
  if (unit_is_event) config.initial_rate = kInitialEventRate;
  return config;
}

}  // namespace heaprec::agent
