// A throttle whose unit is the event: probability of the window, second stage per interval, on arrivals of all kinds.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/throttle/statistics.h"
#include "throttle/byte_clock.h"
#include "throttle/random.h"
#include "throttle/throttle.h"
#include "throttle/varopt.h"

namespace heaprec::throttle {
namespace {

constexpr uint64_t kMs = 1'000'000, kTick = 20 * kMs;
constexpr size_t kSites = 4;
constexpr double kSeconds = 8;
constexpr int kRuns = 12;

struct Load {
  std::string name;
  std::function<double(double second)> per_second;
  // Of the n-th event.
  std::function<size_t(uint64_t n, Random&)> site;
};

size_t Skewed(uint64_t, Random& random) {
  const double u = random.Uniform();
  return u < 0.7 ? 0 : u < 0.9 ? 1 : u < 0.99 ? 2 : 3;
}

std::vector<Load> Loads() {
  const auto in_turn = [](uint64_t n, Random&) { return static_cast<size_t>(n % kSites); };
  return {
      {"steady", [](double) { return 5'000.0; }, Skewed},
      {"a loop", [](double) { return 20'000.0; }, in_turn},
      {"a storm after silence", [](double t) { return t < 4 ? 0.0 : 100'000.0; }, Skewed},
      {"bursts of 50 ms", [](double t) { return t - std::floor(t) < 0.05 ? 60'000.0 : 20.0; }, Skewed},
      {"steps by 100", [](double t) { return static_cast<int>(t / 2) % 2 == 0 ? 300.0 : 30'000.0; }, in_turn},
      {"fewer than the cap", [](double) { return 30.0; }, Skewed},
  };
}

struct Sum {
  double truth = 0, estimate = 0, variance = 0;
  void Keep(double weight) { estimate += weight, variance += weight * (weight - 1); }
  double Z() const { return variance > 0 ? (estimate - truth) / std::sqrt(variance) : estimate - truth; }
};

// What a recording of one load says.
struct Recorded {
  Sum total;  // after the first stage: the second keeps it
  std::vector<Sum> sites{kSites};
  size_t most_kept = 0, most_buffered = 0, kept = 0;
  uint64_t events = 0;
};

class Recorder {
 public:
  Recorder(const ControllerConfig& config, uint64_t seed, Recorded* into)
      : throttle_(config, 0), forecast_(throttle_.Tick(0, 0)), seed_(seed), random_(seed), out_(*into) {
    OpenWindow(0);
  }

  void Throw(uint64_t now_ns, size_t site) {
    // Read before the event changes any counter, as the agent reads the board.
    const ActiveWindow now{lambda_, 1};
    ++thrown_;
    ++out_.events;
    out_.total.truth += 1;
    out_.sites[site].truth += 1;
    const DeliveryDecision decision = DecideEvent(now, random_);
    if (decision.action != DeliveryDecision::Action::kKept) return;
    out_.total.Keep(decision.weight_bytes);
    buffered_.push_back({.id = next_id_++, .weight = decision.weight_bytes, .class_key = site});
    tally_.weight += decision.weight_bytes;
    tally_.effective += decision.weight_bytes;
    ++tally_.count;
    if (forecast_.Lambda(throttle_.config(), now_ns, tally_).whole < kFallThreshold * lambda_) OpenWindow(now_ns);
  }
  void Tick(uint64_t now_ns) {
    if (now_ns % throttle_.config().interval_ns == 0) CloseInterval();
    forecast_ = throttle_.Tick(now_ns, thrown_, tally_);
    tally_ = {};
    OpenWindow(now_ns);
  }

 private:
  void OpenWindow(uint64_t now_ns) { lambda_ = forecast_.Lambda(throttle_.config(), now_ns, tally_).whole; }
  void CloseInterval() {
    const auto cap = static_cast<size_t>(throttle_.config().cap);
    const Reduction reduction = ReduceToCap(buffered_, cap, Mix64(seed_ ^ ++intervals_));
    for (const size_t i : reduction.kept) {
      out_.sites[buffered_[i].class_key].Keep(reduction.WeightOf(buffered_[i].weight));
    }
    out_.kept += reduction.kept.size();
    out_.most_kept = std::max(out_.most_kept, reduction.kept.size());
    out_.most_buffered = std::max(out_.most_buffered, buffered_.size());
    buffered_.clear();
  }

  Throttle throttle_;
  Forecast forecast_;
  uint64_t seed_;
  Random random_;
  Recorded& out_;
  double lambda_ = 0;
  uint64_t thrown_ = 0, next_id_ = 1, intervals_ = 0;
  PointSums tally_;
  std::vector<BufferedPoint> buffered_;
};

Recorded Record(const Load& load, double rate) {
  Recorded out;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    ControllerConfig config = ConfigFor(rate, 1e6);
    config.initial_rate = 10;
    Recorder recorder(config, seed, &out);
    Random arrivals(Mix64(seed));
    uint64_t n = 0;
    double due = 0;
    for (uint64_t now = 0; now < static_cast<uint64_t>(kSeconds * 1e9);) {
      now += kMs;
      due += load.per_second(static_cast<double>(now) * 1e-9) * 1e-3;
      for (; due >= 1; due -= 1) recorder.Throw(now, load.site(n++, arrivals));
      if (now % kTick == 0) recorder.Tick(now);
    }
  }
  return out;
}

}  // namespace

// n = 12 runs of 8 s, up to 9,600 samples kept; statistics: the total after the first stage against sum w (w - 1),
// exact for it, and each site after both, for which it is an upper bound; |z| <= 6 on 60 comparisons: 1.2e-7.
TEST_CASE("For any arrivals events are sampled without bias and within their cap") {
  const double rate = GENERATE(20.0, 100.0);
  for (const Load& load : Loads()) {
    const Recorded out = Record(load, rate);
    CAPTURE(load.name, rate, out.events, out.total.estimate, out.most_buffered);
    CHECK(static_cast<double>(out.most_kept) <= rate);
    // c R (1 + ln(surprise)) of at most a million, as for bytes.
    CHECK(static_cast<double>(out.most_buffered) <= 15 * ConfigFor(rate, 1e6).oversampling * rate);
    CHECK(std::abs(out.total.Z()) <= heaprec::testing::kBound);
    for (const Sum& site : out.sites) CHECK(std::abs(site.Z()) <= heaprec::testing::kBound);
  }
}

TEST_CASE("Events below the cap are all kept with weight 1") {
  const Recorded out = Record(Loads().back(), 100);
  CHECK(out.kept == out.events);
  CHECK(out.total.estimate == static_cast<double>(out.events));
}

}  // namespace heaprec::throttle
