#include "throttle/controller.h"

#include <algorithm>
#include <cmath>

namespace heaprec::throttle {
namespace {

constexpr double kSecondsPerNs = 1e-9;

double Seconds(uint64_t ns) { return static_cast<double>(ns) * kSecondsPerNs; }

// r after `dt_ns` in which `bytes` came. Nothing is known of when they came, so they are spread evenly: each decays by
// the average over dt of exp(-x / tau) / tau, which for dt -> 0 is an impulse of bytes / tau.
double NextRate(double rate, uint64_t dt_ns, double bytes, uint64_t tau_ns) {
  const double dt = Seconds(dt_ns), tau = Seconds(std::max<uint64_t>(tau_ns, 1));
  const double gone = -std::expm1(-dt / tau);
  return rate * (1 - gone) + bytes * (dt > 0 ? gone / dt : 1 / tau);
}

}  // namespace

ControllerConfig ConfigFor(double rate, double max_cap) {
  ControllerConfig config;
  const double intervals = rate < 1 ? rate : std::max(1.0, std::ceil(rate / std::max(max_cap, 1.0)));
  config.interval_ns = static_cast<uint64_t>(1e9 / intervals);
  config.cap = rate < 1 ? 1 : std::floor(rate / intervals);
  // Rare samples need a long view: r averages over the same share of the interval.
  if (rate < 1) config.rate_tau_ns = static_cast<uint64_t>(Seconds(config.rate_tau_ns) * 1e9 / rate);
  return config;
}

double Forecast::Lambda(const ControllerConfig& config, uint64_t now_ns, double bytes_since) const {
  const uint64_t now = std::max(now_ns, tick_ns), interval = std::max<uint64_t>(config.interval_ns, 1);
  const double since = std::max(bytes_since, 0.0);
  uint64_t end = interval_end_ns;
  double so_far = bytes_so_far + since;
  if (now >= end) {
    const uint64_t late = (now - end) % interval;
    end = now - late + interval;
    // Of the bytes since the tick, only those of the interval that `now` lies in; evenly spread, for want of better.
    so_far = since * Seconds(late) / std::max(Seconds(now - tick_ns), kSecondsPerNs);
  }
  const double r = NextRate(rate, now - tick_ns, since, config.rate_tau_ns);
  const double wanted = config.surplus * config.cap, forecast = so_far + Seconds(end - now) * r;
  if (!(wanted > 0)) return 0;
  return forecast * config.lambda_max > wanted ? wanted / forecast : config.lambda_max;
}

Controller::Controller(const ControllerConfig& config, uint64_t start_ns)
    : config_(config), start_ns_(start_ns), last_ns_(start_ns), rate_(config.initial_rate) {
  config_.interval_ns = std::max<uint64_t>(config_.interval_ns, 1);
}

uint64_t Controller::IntervalAt(uint64_t now_ns) const {
  return now_ns > start_ns_ ? (now_ns - start_ns_) / config_.interval_ns : 0;
}

Forecast Controller::Tick(uint64_t now_ns, uint64_t total_bytes) {
  const uint64_t now = std::max(now_ns, last_ns_), dt = now - last_ns_;
  const uint64_t total = std::max(total_bytes, last_total_);
  const double bytes = static_cast<double>(total - last_total_);
  const uint64_t begin = start_ns_ + IntervalAt(now) * config_.interval_ns;
  if (begin > last_ns_) {
    bytes_so_far_ = bytes * Seconds(now - begin) / Seconds(dt);
  } else {
    bytes_so_far_ += bytes;
  }
  rate_ = NextRate(rate_, dt, bytes, config_.rate_tau_ns);
  last_ns_ = now;
  last_total_ = total;
  return {now, begin + config_.interval_ns, bytes_so_far_, rate_};
}

}  // namespace heaprec::throttle
