#include "throttle/controller.h"

#include <algorithm>
#include <cmath>

#include "throttle/interval_reducer.h"

namespace heaprec::throttle {
namespace {

constexpr double kSecondsPerNs = 1e-9, kNsPerSecond = 1e9;
// The effective share is a ratio of two sums over this many intervals: about 300 points, with an error of 6 %, where it
// matters at all (it is exactly 1 as long as lambda * size is small).
constexpr double kShareIntervals = 2;
// The same for the share of new stacks. It falls fast in a program that has just started, and an error of a tenth is
// acceptable.
constexpr double kNewStackIntervals = 0.5;

// How many points per interval to aim for, relative to the cap: 3.7 standard deviations more at 150 points.
constexpr double kFillMargin = 1.3;
// How many times its due points a window may get before further points lower its probability.
constexpr double kWindowGuard = 8;

double Seconds(uint64_t ns) { return static_cast<double>(ns) * kSecondsPerNs; }

// Returns r after `dt_ns` in which `bytes` were allocated. They are assumed to be evenly spread: each decays by the
// average over dt of exp(-x / tau) / tau, which for dt -> 0 is an impulse of bytes / tau.
double NextRate(double rate, uint64_t dt_ns, double bytes, uint64_t tau_ns) {
  const double dt = Seconds(dt_ns), tau = Seconds(std::max<uint64_t>(tau_ns, 1));
  const double gone = -std::expm1(-dt / tau);
  return rate * (1 - gone) + bytes * (dt > 0 ? gone / dt : 1 / tau);
}

// c. The number of points in an interval has a standard deviation of its square root. c is large enough that the cap is
// still reached at 2.4 sigma below the mean (150: 1.2; 30: 1.45; 1: 3.45). Beyond that, every buffered point makes the
// kept ones more accurate, because the second stage keeps each site's share; but it costs the application as much as a
// sample. So c is up to kMaxOversampling if samples are few, and takes at most kAffordable points per second if they
// are many. A point whose stack is new costs kNewStackCost times as much: its frames are named, written and read.
constexpr double kMinOversampling = 1.2, kSpare = 2.45;
constexpr double kMaxOversampling = 4;
constexpr double kAffordable = 450, kNewStackCost = 6;

double OversamplingFor(double cap, double rate, double point_cost) {
  const double wanted = std::min(kMaxOversampling, 1 + kAffordable / (rate * point_cost));
  return std::max({kMinOversampling, 1 + kSpare / std::sqrt(cap), wanted});
}

void SetOversampling(double rate, ControllerConfig* config) {
  config->oversampling = OversamplingFor(config->cap, rate, 1);
  config->oversampling_new_stacks = OversamplingFor(config->cap, rate, kNewStackCost);
}

// Returns the lambda that gives `points` in `bytes`.
double PerByte(double points, double bytes, const ControllerConfig& config) {
  if (!(points > 0)) return 0;
  return bytes * config.lambda_max > points ? points / bytes : config.lambda_max;
}

// Returns the number of points with which the second stage can fill the interval.
double Wanted(double due, const ControllerConfig& config) { return std::min(due, kFillMargin * config.cap); }

}  // namespace

ControllerConfig ConfigFor(double rate, double max_cap) {
  ControllerConfig config;
  if (rate < 1) {
    config.cap = 1;
    SetOversampling(rate, &config);
    config.interval_ns = static_cast<uint64_t>(std::ceil(kNsPerSecond / rate));
    // Rare samples need long averages: r averages over the same fraction of the interval.
    config.rate_tau_ns = static_cast<uint64_t>(static_cast<double>(config.rate_tau_ns) / rate);
    config.slow_tau_ns = static_cast<uint64_t>(static_cast<double>(config.slow_tau_ns) / rate);
    config.fast_tau_ns = static_cast<uint64_t>(static_cast<double>(config.fast_tau_ns) / rate);
    return config;
  }
  // Equal parts in whole nanoseconds, so that intervals always stay aligned with the seconds.
  uint64_t parts = static_cast<uint64_t>(std::ceil(rate / std::max(max_cap, 1.0)));
  while (parts < config.interval_ns && config.interval_ns % parts != 0) ++parts;
  config.interval_ns /= parts;
  config.cap = std::floor(rate / static_cast<double>(parts));
  SetOversampling(rate, &config);
  return config;
}

Lambdas Forecast::Lambda(const ControllerConfig& config, uint64_t now_ns, PointSums points) const {
  const uint64_t now = std::max(now_ns, tick_ns), interval = std::max<uint64_t>(config.interval_ns, 1);
  const double since = std::max(points.effective, 0.0);
  uint64_t end = interval_end_ns;
  double so_far = bytes_so_far + since;
  if (config.rule == Rule::kWindow) {
    // In the formula P_w is constant; the guard only prevents a JVM that becomes active from sampling every object.
    const double guard = kWindowGuard * window_due;
    const double lambda = so_far * window_lambda > guard ? guard / so_far : window_lambda;
    return {lambda, lambda};
  }
  if (now >= end) {
    const uint64_t late = (now - end) % interval;
    end = now - late + interval;
    // Counts only bytes in the interval of `now`, assuming that the bytes since the tick are evenly spread.
    so_far = since * Seconds(late) / std::max(Seconds(now - tick_ns), kSecondsPerNs);
  }
  // If the forecast is too high, the interval has too few samples. If it is too low, points grow with the logarithm of
  // the error, and the second stage reduces them.
  const double r = std::min(NextRate(rate, now - tick_ns, since, config.rate_tau_ns),
                            NextRate(slow_rate, now - tick_ns, since, config.slow_tau_ns));
  const double left = Seconds(end - now), bytes = so_far + left * r;
  const double all = PerByte(config.points, std::max(bytes, least_bytes), config);
  const double whole = PerByte(Due(config), bytes, config);
  // A late interval is unknown.
  const double missing = end == interval_end_ns ? Wanted(Due(config), config) - sliding_budget - points.count : 0;
  if (!(missing > 0)) return {std::max(all, whole), whole};
  // Stops just before the end of an interval, because points requested then would fall into the next one.
  const double fast = std::min(r, NextRate(fast_rate, now - tick_ns, since, config.fast_tau_ns));
  const double more = std::max(whole, PerByte(missing, std::max(left, Seconds(config.fast_tau_ns)) * fast, config));
  return {std::max(all, more), more};
}

// Time alone only lowers N. d bytes at any later moment raise it by at most d (1 + left / tau), where tau is the
// shorter averaging time.
double Forecast::BytesUntilRecheck(const ControllerConfig& config, uint64_t now_ns, PointSums points,
                                   Lambdas floor) const {
  const uint64_t now = std::max(now_ns, tick_ns), dt = now - tick_ns;
  if (config.rule != Rule::kAdaptive || now >= interval_end_ns) return 0;
  const double since = std::max(points.effective, 0.0), left = Seconds(interval_end_ns - now);
  const double r =
      std::min(NextRate(rate, dt, since, config.rate_tau_ns), NextRate(slow_rate, dt, since, config.slow_tau_ns));
  const double bytes = bytes_so_far + since + left * r;
  // How much N may increase.
  const auto room = [&](double due, double least) {
    const double lambda = PerByte(due, bytes, config);
    return lambda > least && least > 0 ? due / least - due / lambda : 0;
  };
  const double tau = Seconds(std::max<uint64_t>(std::min(config.rate_tau_ns, config.slow_tau_ns), 1));
  return std::min(room(Due(config), floor.whole), room(std::max(config.points, Due(config)), floor.all)) /
         (1 + left / tau);
}

Controller::Controller(const ControllerConfig& config, uint64_t start_ns)
    : config_(config),
      start_ns_(start_ns),
      last_ns_(start_ns),
      rate_(config.initial_rate),
      slow_rate_(config.initial_rate),
      fast_rate_(config.initial_rate),
      usable_(std::max<uint64_t>(config.interval_ns, 1), config.cap,
              static_cast<double>(SlidingCap(static_cast<size_t>(config.cap)))) {
  config_.interval_ns = std::max<uint64_t>(config_.interval_ns, 1);
}

uint64_t Controller::IntervalAt(uint64_t now_ns) const {
  return now_ns > start_ns_ ? (now_ns - start_ns_) / config_.interval_ns : 0;
}

Forecast Controller::Tick(uint64_t now_ns, uint64_t total_bytes, PointSums points) {
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
  fast_rate_ = NextRate(fast_rate_, dt, bytes, config_.fast_tau_ns);
  usable_.Add(now - start_ns_, points.count, points.weight);
  last_ns_ = now;
  last_total_ = total;
  Remember(dt, points);
  const double share = EffectiveShare();
  return {.tick_ns = now,
          .interval_end_ns = begin + config_.interval_ns,
          .bytes_so_far = share * bytes_so_far_,
          .rate = share * rate_,
          .slow_rate = share * slow_rate_,
          .fast_rate = share * fast_rate_,
          .oversampling_scale = OversamplingScale(),
          .sliding_budget = usable_.sliding_budget(),
          .least_bytes = IntervalAt(now) == 0 ? config_.least_first_bytes : 0};
}

void Controller::Remember(uint64_t dt_ns, PointSums points) {
  const double intervals = Seconds(dt_ns) / Seconds(config_.interval_ns);
  const double kept = std::exp(-intervals / kShareIntervals), kept_stacks = std::exp(-intervals / kNewStackIntervals);
  recent_.weight = recent_.weight * kept + points.weight;
  recent_.effective = recent_.effective * kept + points.effective;
  recent_.count = recent_.count * kept_stacks + points.count;
  recent_.with_new_stack = recent_.with_new_stack * kept_stacks + points.with_new_stack;
}

// Effective bytes per byte, from recent points.
double Controller::EffectiveShare() const {
  return recent_.weight > 0 ? std::min(1.0, recent_.effective / recent_.weight) : 1;
}

// The cost of a point grows with the share of new stacks; the cost of the points beyond R should stay constant. At the
// start every stack is new.
double Controller::OversamplingScale() const {
  const double known = config_.oversampling - 1, with_new_stack = config_.oversampling_new_stacks - 1;
  const double share = recent_.count > 0 ? std::min(1.0, recent_.with_new_stack / recent_.count) : 1;
  if (!(known > with_new_stack && with_new_stack > 0)) return 1;
  return (1 + 1 / ((1 - share) / known + share / with_new_stack)) / config_.oversampling;
}

SlidingBudget::SlidingBudget(uint64_t interval_ns, double cap, double sliding_cap)
    : interval_ns_(interval_ns), cap_(cap), sliding_cap_(sliding_cap) {}

void SlidingBudget::Add(uint64_t time_ns, double count, double weight) {
  const uint64_t interval = time_ns / interval_ns_, begin = interval * interval_ns_;
  if (interval > interval_) {
    const double in_old = static_cast<double>(begin - last_ns_) / static_cast<double>(time_ns - last_ns_);
    AddToInterval(begin - 1, count * in_old, weight * in_old);
    count *= 1 - in_old;
    weight *= 1 - in_old;
    MoveTo(interval);
  }
  AddToInterval(time_ns, count, weight);
  last_ns_ = time_ns;
}

void SlidingBudget::AddToInterval(uint64_t time_ns, double count, double weight) {
  const uint64_t part = PartOf(time_ns);
  parts_[part].count += count;
  parts_[part].weight += weight;
  usable_ = std::min(usable_ + count, sliding_cap_ - kept_after_[part]);
}

// The second stage keeps points in proportion to their weights, or all of them.
void SlidingBudget::MoveTo(uint64_t interval) {
  Part all;
  for (const Part& part : parts_) all = {all.count + part.count, all.weight + part.weight};
  kept_after_ = {};
  for (uint64_t k = kParts; k-- > 0;) {
    const double kept = all.count > cap_ && all.weight > 0 ? cap_ * parts_[k].weight / all.weight : parts_[k].count;
    kept_after_[k] = kept_after_[k + 1] + (interval == interval_ + 1 ? kept : 0);
  }
  parts_ = {};
  usable_ = 0;
  interval_ = interval;
}

uint64_t SlidingBudget::PartOf(uint64_t time_ns) const {
  return std::min(kParts - 1, time_ns % interval_ns_ / (interval_ns_ / kParts + 1));
}

}  // namespace heaprec::throttle
