#include "throttle/controller.h"

#include <algorithm>
#include <cmath>

namespace heaprec::throttle {
namespace {

constexpr double kSecondsPerNs = 1e-9, kNsPerSecond = 1e9;
// The effective share is a ratio of two sums over this many intervals: some 300 points, 6 %, where it matters at all
// (it is exactly 1 as long as lambda * size is small).
constexpr double kShareIntervals = 2;

double Seconds(uint64_t ns) { return static_cast<double>(ns) * kSecondsPerNs; }

// r after `dt_ns` in which `bytes` came. Nothing is known of when they came, so they are spread evenly: each decays by
// the average over dt of exp(-x / tau) / tau, which for dt -> 0 is an impulse of bytes / tau.
double NextRate(double rate, uint64_t dt_ns, double bytes, uint64_t tau_ns) {
  const double dt = Seconds(dt_ns), tau = Seconds(std::max<uint64_t>(tau_ns, 1));
  const double gone = -std::expm1(-dt / tau);
  return rate * (1 - gone) + bytes * (dt > 0 ? gone / dt : 1 / tau);
}

// The points of an interval scatter by the root of their number: so much more is aimed at that the cap is met at 2.4
// sigma below. 150: 1.2; 30: 1.45; 1: 3.45.
double SurplusFor(double cap) { return std::max(1.2, 1 + 2.45 / std::sqrt(cap)); }

}  // namespace

ControllerConfig ConfigFor(double rate, double max_cap) {
  ControllerConfig config;
  if (rate < 1) {
    config.cap = 1;
    config.surplus = SurplusFor(config.cap);
    config.interval_ns = static_cast<uint64_t>(std::ceil(kNsPerSecond / rate));
    // Rare samples need a long view: r averages over the same share of the interval.
    config.rate_tau_ns = static_cast<uint64_t>(static_cast<double>(config.rate_tau_ns) / rate);
    config.slow_tau_ns = static_cast<uint64_t>(static_cast<double>(config.slow_tau_ns) / rate);
    return config;
  }
  // Equal parts in whole nanoseconds: the intervals stay aligned with the seconds for ever.
  uint64_t parts = static_cast<uint64_t>(std::ceil(rate / std::max(max_cap, 1.0)));
  while (parts < config.interval_ns && config.interval_ns % parts != 0) ++parts;
  config.interval_ns /= parts;
  config.cap = std::floor(rate / static_cast<double>(parts));
  config.surplus = SurplusFor(config.cap);
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
  // A forecast that is too high leaves the interval short of samples; one that is too low costs the logarithm of the
  // surprise in points, which the second stage takes back.
  const double r = std::min(NextRate(rate, now - tick_ns, since, config.rate_tau_ns),
                            NextRate(slow_rate, now - tick_ns, since, config.slow_tau_ns));
  const double wanted = config.surplus * config.cap, forecast = so_far + Seconds(end - now) * r;
  if (!(wanted > 0)) return 0;
  return forecast * config.lambda_max > wanted ? wanted / forecast : config.lambda_max;
}

Controller::Controller(const ControllerConfig& config, uint64_t start_ns)
    : config_(config),
      start_ns_(start_ns),
      last_ns_(start_ns),
      rate_(config.initial_rate),
      slow_rate_(config.initial_rate) {
  config_.interval_ns = std::max<uint64_t>(config_.interval_ns, 1);
}

uint64_t Controller::IntervalAt(uint64_t now_ns) const {
  return now_ns > start_ns_ ? (now_ns - start_ns_) / config_.interval_ns : 0;
}

Forecast Controller::Tick(uint64_t now_ns, uint64_t total_bytes, PointTally points) {
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
  slow_rate_ = NextRate(slow_rate_, dt, bytes, config_.slow_tau_ns);
  last_ns_ = now;
  last_total_ = total;
  const double share = EffectiveShare(dt, points);
  return {now, begin + config_.interval_ns, share * bytes_so_far_, share * rate_, share * slow_rate_};
}

// Effective bytes per byte, from the points of late.
double Controller::EffectiveShare(uint64_t dt_ns, PointTally points) {
  const double kept = std::exp(-Seconds(dt_ns) / (kShareIntervals * Seconds(config_.interval_ns)));
  recent_.weight = recent_.weight * kept + points.weight;
  recent_.effective = recent_.effective * kept + points.effective;
  return recent_.weight > 0 ? std::min(1.0, recent_.effective / recent_.weight) : 1;
}

}  // namespace heaprec::throttle
