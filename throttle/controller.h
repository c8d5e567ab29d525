// Chooses lambda with a PI controller on the bytes of one interval, so that the interval gets about c * cap whole
// points, and at least P points including light ones.
//
//   N(t) = S(t) + (T_end - t) r(t)        forecast of the interval's bytes
//   whole_lambda(t) = min(lambda_max, max(c * cap / N(t), missing(t) / (max(T_end - t, tau_f) r_f(t))))
//   lambda(t) = max(whole_lambda(t), min(lambda_max, P / N(t)))
// S: bytes counted in the interval so far (integral part). r: the lower of a short-term and a long-term byte rate
// (proportional part; a burst at the start of an interval does not last for all of it). Both are multiplied by the
// share of bytes that can give points, because an object has at most one. missing: points without which stage 2 could
// not fill the interval (SlidingBudget). Between two ticks the bytes are estimated from the points (unbiased), so
// lambda also falls within a tick: a step from idle to 5 GB/s costs cap * c * (1 + ln(surprise)) points, whatever the
// length of a tick.
//
// Units:    time in ns of the caller's clock; lambda in points per byte.
// Context:  Forecast: alloc. Controller::Tick: drain.
// Threads:  a Forecast is a value. Controller: one.
// Failure:  none: accepts late ticks, ticks at the same time, and clocks and totals that decrease.
// Maths:    docs/sampler.md#controller
#pragma once

#include <array>
#include <cstdint>
#include <limits>

namespace heaprec::throttle {

// Estimates how many points of the current interval the sliding cap still allows. If many points were kept late in the
// previous interval and there are many early in this one, the second stage must drop some of them, even if the interval
// is not full.
//
// Units:    time in ns since the start of the recording.
// Context:  drain.
// Failure:  none. An estimate, because the controller needs it before the interval is reduced.
// Maths:    docs/sampler.md#controller
class SlidingBudget {
 public:
  // interval_ns > 0; cap and sliding_cap as for IntervalReducer.
  SlidingBudget(uint64_t interval_ns, double cap, double sliding_cap);

  // Adds `count` points, with a total weight of `weight`, evenly spread between the last call and `time_ns`. Times
  // never decrease.
  void Add(uint64_t time_ns, double count, double weight);

  // For the interval of the last call; may exceed cap.
  double sliding_budget() const { return usable_; }

 private:
  static constexpr uint64_t kParts = 50;  // of an interval: with intervals of 1 s, a tick of the drain
  struct Part {
    double count = 0, weight = 0;
  };

  void AddToInterval(uint64_t time_ns, double count, double weight);
  void MoveTo(uint64_t interval);
  uint64_t PartOf(uint64_t time_ns) const;

  uint64_t interval_ns_;
  double cap_, sliding_cap_;
  uint64_t interval_ = 0, last_ns_ = 0;
  std::array<Part, kParts> parts_{};
  // kept_after_[k]: points of the previous interval kept in part k or later
  std::array<double, kParts + 1> kept_after_{};
  double usable_ = 0;
};

enum class Rule : uint8_t {
  kAdaptive,  // lambda falls with the bytes of the interval: Controller
  kWindow,    // one probability per fifth of an interval: WindowController
};

struct ControllerConfig {
  Rule rule = Rule::kAdaptive;
  uint64_t interval_ns = 1'000'000'000;
  double cap = 150;  // samples an interval may keep; 0: lambda is 0
  // c: points to put into the ring, relative to the cap; stage 2 reduces them to the cap
  double oversampling = 1.2;
  double oversampling_new_stacks = 1.2;  // c if every point has a new stack, because these are expensive
  uint64_t rate_tau_ns = 150'000'000;    // averaging time of r
  uint64_t slow_tau_ns = 1'000'000'000;  // averaging time of the long-term rate; the lower rate of the two is used
  uint64_t fast_tau_ns = 50'000'000;     // averaging time of a third rate, which is also used if points are missing
  double points = 0;                     // P: points of an interval, including light ones; 0: all are whole
  double lambda_max = 1.0;               // every object of 16 B or more is then practically certain to be sampled
  double initial_rate = 1e6;             // r at the start, bytes/s; it decays: docs/sampler.md#controller
  double least_first_bytes = 50e6;       // for P, N of the first interval is at least this
};

// Returns the configuration for `rate` samples per second: no second holds more than `rate` (below 1/s: no 1/rate
// seconds hold more than one). Above max_cap samples the second is divided into equal intervals. The smaller the cap or
// the rate, the larger the oversampling. rate > 0, max_cap >= 1.
ControllerConfig ConfigFor(double rate, double max_cap);

// Sums over points kept by the first stage, including light ones. An object of s bytes has at most one whole point,
// even if whole_lambda s is larger: it counts as pi / whole_lambda effective bytes, of which
// DeliveryDecision::effective_bytes are an unbiased estimate.
struct PointSums {
  double weight = 0;          // sum of DeliveryDecision::point_weight
  double effective = 0;       // sum of DeliveryDecision::effective_bytes
  double count = 0;           // number of whole points
  double with_new_stack = 0;  // whole points whose stack had to be written
};

// In points per byte.
struct Lambdas {
  double all = 0, whole = 0;  // whole <= all
};

// Everything on which lambda depends at one tick. Published with the window, so that an allocating thread can lower
// lambda.
struct Forecast {
  uint64_t tick_ns = 0;  // time of the forecast
  uint64_t interval_end_ns = 0;
  double bytes_so_far = 0;        // S, effective bytes
  double rate = 0;                // r, effective bytes per second
  double slow_rate = 0;           // as rate, averaged over slow_tau_ns
  double fast_rate = 0;           // as rate, averaged over fast_tau_ns
  double oversampling_scale = 1;  // c divided by config.oversampling: lower if stacks are new
  // Number of points of the interval so far that the second stage can keep; infinity: no limit.
  double sliding_budget = std::numeric_limits<double>::infinity();
  // Rule::kWindow: P_w, and the expected number of points; bytes_so_far then counts from the start of the window.
  double window_lambda = 0, window_due = 0;
  double least_bytes = 0;  // minimum N for computing lambda from P
  // Returns lambda at `now_ns`, given the points since tick_ns. More points never raise it. After interval_end_ns (the
  // drain is late) further intervals are counted from there; a window lasts until the drain has closed it.
  Lambdas Lambda(const ControllerConfig& config, uint64_t now_ns, PointSums since) const;
  // Effective bytes that may be added to `since` before one of Lambda can be below that of `floor`, until
  // interval_end_ns; 0: none. A caller that only needs to notice a decrease need not call Lambda before that.
  double BytesUntilRecheck(const ControllerConfig& config, uint64_t now_ns, PointSums since, Lambdas floor) const;

 private:
  double Due(const ControllerConfig& config) const { return oversampling_scale * config.oversampling * config.cap; }
};

// An allocating thread publishes a new window before the next tick only if one of the lambdas must fall below this
// fraction of its value.
inline constexpr double kFallThreshold = 0.9;

class Controller {
 public:
  Controller(const ControllerConfig& config, uint64_t start_ns);
  // `total_bytes`: bytes counted by all byte clocks since the start, monotonic. `points`: those kept since the last
  // tick. Returns the new forecast.
  Forecast Tick(uint64_t now_ns, uint64_t total_bytes, PointSums points = {});
  // Sets P from now on. Unbiased, because it depends only on the past.
  void SetPoints(double points) { config_.points = points; }
  // Intervals are numbered from 0 at the start; stage 2 reduces all points of an interval together.
  uint64_t IntervalAt(uint64_t now_ns) const;
  const ControllerConfig& config() const { return config_; }

 private:
  void Remember(uint64_t dt_ns, PointSums points);
  double EffectiveShare() const;
  double OversamplingScale() const;

  ControllerConfig config_;
  uint64_t start_ns_, last_ns_;
  uint64_t last_total_ = 0;
  double bytes_so_far_ = 0;  // bytes of the interval until last_ns_
  double rate_, slow_rate_, fast_rate_;
  PointSums recent_;  // decaying sums
  SlidingBudget usable_;
};

}  // namespace heaprec::throttle
