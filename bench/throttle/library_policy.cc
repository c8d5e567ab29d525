#include "bench/throttle/library_policy.h"

#include <algorithm>

#include "throttle/byte_clock.h"
#include "throttle/interval_reducer.h"
#include "throttle/random.h"
#include "throttle/throttle.h"

namespace heaprec::bench {
namespace {

constexpr uint64_t kTickNs = 20'000'000;

throttle::ControllerConfig ConfigOf(throttle::Rule rule, double rate) {
  throttle::ControllerConfig config = throttle::ConfigFor(rate, 1e6);
  config.rule = rule;
  return config;
}

class LibraryPolicy final : public Policy {
 public:
  LibraryPolicy(const throttle::ControllerConfig& config, uint64_t seed)
      : throttle_(config, 0),
        reducer_({.interval_ns = config.interval_ns, .cap = static_cast<size_t>(config.cap), .recording = seed}),
        forecast_(throttle_.Tick(0, 0)),
        random_(throttle::Mix64(seed + 5)) {
    lambda_ = forecast_.Lambda(throttle_.config(), 0, {}).whole;
  }

  void Offer(const Arrival& arrival, std::vector<Kept>* kept) override {
    while (next_tick_ <= arrival.time_ns) Tick(kept);
    total_ += static_cast<uint64_t>(arrival.bytes);
    const double pi = throttle::InclusionProbability(lambda_, static_cast<uint64_t>(arrival.bytes));
    if (!(random_.Uniform() < pi)) return;
    held_.push_back({arrival, arrival.bytes / pi});
    since_.weight += arrival.bytes / pi;
    since_.effective += 1 / lambda_;
    ++since_.count;
    const double wanted = forecast_.Lambda(throttle_.config(), arrival.time_ns, since_).whole;
    if (wanted < throttle::kFallThreshold * lambda_) lambda_ = wanted;
  }
  void Finish(std::vector<Kept>* kept) override { CloseInterval(kept); }
  uint64_t window_ns() const override {
    const uint64_t interval = throttle_.config().interval_ns;
    return throttle_.config().rule == throttle::Rule::kWindow ? interval / throttle::kWindowsPerInterval : interval;
  }

 private:
  void Tick(std::vector<Kept>* kept) {
    if (next_tick_ >= forecast_.interval_end_ns) CloseInterval(kept);
    forecast_ = throttle_.Tick(next_tick_, total_, since_);
    since_ = {};
    lambda_ = forecast_.Lambda(throttle_.config(), next_tick_, since_).whole;
    next_tick_ += kTickNs;
  }
  void CloseInterval(std::vector<Kept>* kept) {
    std::vector<throttle::BufferedPoint> points;
    for (const Kept& held : held_)
      points.push_back({.id = next_id_++,
                        .weight = held.weight,
                        .time_ns = held.arrival.time_ns,
                        .call_path = throttle::Mix64(held.arrival.site + 1)});
    const auto reduced = reducer_.Reduce(interval_, points);
    for (const throttle::KeptPoint& point : reduced.kept) kept->push_back({held_[point.index].arrival, point.weight});
    held_.clear();
    ++interval_;
  }

  throttle::Throttle throttle_;
  throttle::IntervalReducer reducer_;
  throttle::Forecast forecast_;
  throttle::Random random_;
  throttle::PointSums since_;
  uint64_t next_tick_ = kTickNs, total_ = 0, interval_ = 0, next_id_ = 0;
  double lambda_ = 0;
  std::vector<Kept> held_;
};

}  // namespace

std::unique_ptr<Policy> MakeLibraryPolicy(throttle::Rule rule, double rate, uint64_t seed) {
  return std::make_unique<LibraryPolicy>(ConfigOf(rule, rate), seed);
}

}  // namespace heaprec::bench
