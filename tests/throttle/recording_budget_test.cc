#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "tests/throttle/statistics.h"
#include "throttle/interval_reducer.h"
#include "throttle/random.h"

namespace heaprec::throttle {
namespace {

using testing::BinomialZ;
using testing::kBound;

constexpr uint64_t kSecond = 1'000'000'000;

// Points of weights 1000 to 3000, spread over the interval.
std::vector<BufferedPoint> Points(uint64_t interval, size_t count, Random& random) {
  std::vector<BufferedPoint> points;
  for (size_t i = 0; i < count; ++i) {
    points.push_back({.id = random.Next(),
                      .weight = 1000 * (1 + 2 * random.Uniform()),
                      .time_ns = interval * kSecond + random.Next() % kSecond,
                      .call_path = random.Next() % 3});
  }
  return points;
}

TEST_CASE("Every interval keeps something, none exceeds the cap, and all together do not exceed N") {
  for (const uint64_t most : {1u, 2u, 50u, 200u, 5'000u, 1'000'000u}) {
    for (const size_t cap : {1u, 150u, 8'000u}) {
      for (const uint64_t intervals : {0u, 1u, 10u, 3'600u}) {
        CAPTURE(most, cap, intervals);
        RecordingBudget budget(most, cap, intervals, most + cap);
        double dealt = 0;
        uint64_t marks = 0;
        const uint64_t last = intervals > 0 ? intervals + 5 : 20'000;
        for (uint64_t b = 0; b < last; ++b, budget.CloseIntervals(1)) {
          const SampleQuota quota = budget.Next();
          REQUIRE(quota.length > 0);
          REQUIRE(quota.length <= static_cast<double>(cap) * (1 + 1e-9));
          REQUIRE(quota.first_mark > 0);
          REQUIRE(quota.first_mark <= 1 + 1e-6);
          REQUIRE(std::abs(static_cast<double>(quota.marks) - quota.length) < 1 + 1e-6);
          dealt += quota.length;
          marks += quota.marks;
        }
        CHECK(dealt <= static_cast<double>(most) * (1 + 1e-9));
        CHECK(marks <= most);
      }
    }
  }
}

TEST_CASE("With a known duration every interval gets the same, and one part is left at the end") {
  RecordingBudget budget(100, 150, 9, 1);
  for (int b = 0; b < 9; ++b, budget.CloseIntervals(1)) CHECK(budget.Next().length == Approx(10));
  CHECK(budget.Next().length < 10);
}

TEST_CASE("A limit that is never reached leaves every interval its cap for the whole duration") {
  RecordingBudget budget(1'000'000, 150, 60, 1);
  for (int b = 0; b < 60; ++b, budget.CloseIntervals(1)) {
    CHECK(budget.Next().length == Approx(150));
    CHECK(budget.Next().marks == 150);
  }
}

TEST_CASE("No recording keeps more than N samples, whatever its intervals contain") {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const ReducerConfig bounds{.cap = 1 + random.Next() % 40,
                               .recording = random.Next(),
                               .max_samples = 1 + random.Next() % 120,
                               .duration_ns = random.Next() % 2 == 0 ? 0 : random.Next() % (40 * kSecond)};
    IntervalReducer reducer(bounds);
    uint64_t kept = 0;
    for (uint64_t interval = 0; interval < 60; ++interval) {
      const size_t count = random.Next() % 3 == 0 ? 0 : random.Next() % (2 * bounds.cap);
      const auto reduction = reducer.Reduce(interval, Points(interval, count, random));
      REQUIRE(reduction.kept.size() <= bounds.cap);
      kept += reduction.kept.size();
    }
    CAPTURE(seed);
    REQUIRE(kept <= bounds.max_samples);
  }
}

// n = 40,000 recordings of 10 intervals, N = 25, cap 10; statistic: times that each of 186 points is kept, binomial
// with min(1, w / tau), and z of the estimate of what all intervals' path 1 holds; |z| <= 6 on 187 comparisons: 4e-7.
TEST_CASE("Each point is kept with probability min(1, w / tau), also in intervals that keep less than one") {
  constexpr int kRuns = 40'000;
  Random arrivals(3);
  std::vector<std::vector<BufferedPoint>> intervals;
  for (const size_t count : {30, 5, 0, 40, 1, 20, 2, 40, 8, 40}) {
    intervals.push_back(Points(intervals.size(), count, arrivals));
  }
  intervals[3][7].weight = 1e6;
  std::vector<std::vector<int>> kept(intervals.size());
  std::vector<double> tau(intervals.size());
  double truth = 0, sum = 0, squares = 0;
  for (const auto& points : intervals)
    for (const BufferedPoint& p : points) truth += p.call_path == 1 ? p.weight : 0;
  for (int run = 0; run < kRuns; ++run) {
    IntervalReducer reducer({.cap = 10, .recording = Mix64(static_cast<uint64_t>(run)), .max_samples = 25});
    double off = -truth;
    for (size_t i = 0; i < intervals.size(); ++i) {
      const auto reduction = reducer.Reduce(i, intervals[i]);
      kept[i].resize(intervals[i].size());
      tau[i] = reduction.tau;
      for (const KeptPoint& point : reduction.kept) {
        ++kept[i][point.index];
        off += intervals[i][point.index].call_path == 1 ? point.weight : 0;
      }
    }
    sum += off;
    squares += off * off;
  }
  CHECK(std::abs(sum / kRuns) <= kBound * std::sqrt(squares / kRuns / kRuns));
  for (size_t i = 0; i < intervals.size(); ++i) {
    for (size_t k = 0; k < intervals[i].size(); ++k) {
      const double p = std::min(1.0, intervals[i][k].weight / std::max(tau[i], 1e-9));
      CAPTURE(i, k, p, kept[i][k]);
      if (p == 1) {
        CHECK(kept[i][k] == kRuns);
      } else {
        CHECK(std::abs(BinomialZ(kept[i][k], kRuns, p)) <= kBound);
      }
    }
  }
}

TEST_CASE("A salvager that notes how many intervals had points continues like the killed drain") {
  Random random(8);
  const ReducerConfig bounds{.cap = 10, .recording = 99, .max_samples = 30};
  IntervalReducer drain(bounds), salvager(bounds);
  for (uint64_t interval = 0; interval < 12; ++interval) {
    const auto points = Points(interval, interval % 4 == 1 ? 0 : 30, random);
    const auto by_drain = drain.Reduce(interval, points);
    if (interval < 6) {
      if (!points.empty()) salvager.NoteIntervalsWithPoints(1);
      for (const KeptPoint& point : by_drain.kept) salvager.NoteSample(interval, points[point.index].time_ns);
      continue;
    }
    const auto by_salvager = salvager.Reduce(interval, points);
    CHECK(by_salvager.tau == by_drain.tau);
    REQUIRE(by_salvager.kept.size() == by_drain.kept.size());
    for (size_t i = 0; i < by_drain.kept.size(); ++i) CHECK(by_salvager.kept[i].index == by_drain.kept[i].index);
  }
}

}  // namespace
}  // namespace heaprec::throttle
