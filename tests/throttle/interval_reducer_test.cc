#include "throttle/interval_reducer.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "tests/throttle/statistics.h"
#include "throttle/random.h"

namespace heaprec::throttle {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

// `count` points of weight 1000 between two offsets (in ns) of an interval.
std::vector<BufferedPoint> Points(uint64_t interval, size_t count, uint64_t from, uint64_t to, Random& random) {
  std::vector<BufferedPoint> points;
  for (size_t i = 0; i < count; ++i) {
    const auto offset = from + static_cast<uint64_t>(random.Uniform() * static_cast<double>(to - from));
    points.push_back({random.Next(), 1000, interval * kSecond + offset});
  }
  return points;
}

double SumOfWeights(const IntervalReduction& reduction) {
  return std::accumulate(reduction.kept.begin(), reduction.kept.end(), 0.0,
                         [](double sum, const KeptPoint& point) { return sum + point.weight; });
}

}  // namespace

TEST_CASE("Bursts at the end of one interval and the start of the next respect the sliding limit") {
  Random random(1);
  IntervalReducer reducer({.cap = 150});
  std::vector<uint64_t> times;
  for (uint64_t interval = 0; interval < 50; ++interval) {
    const bool late = interval % 2 == 0;
    const auto points =
        late ? Points(interval, 400, kSecond * 8 / 10, kSecond, random) : Points(interval, 400, 0, kSecond / 5, random);
    const IntervalReduction reduction = reducer.Reduce(interval, points);
    CHECK(reduction.kept.size() <= 150);
    CHECK(SumOfWeights(reduction) == Approx(400 * 1000.0));  // VarOpt hands weights on, it loses none
    for (const KeptPoint& point : reduction.kept) times.push_back(points[point.index].time_ns);
  }
  CHECK(testing::MostInAnySecond(times) <= 195);
  CHECK(testing::MostInAnySecond(times) > 150);
}

TEST_CASE("Random arrivals respect the sliding limit and the cap") {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const size_t cap = 10 + random.Next() % 200;
    IntervalReducer reducer({.cap = cap, .recording = seed});
    std::vector<uint64_t> times;
    for (uint64_t interval = 0; interval < 12; interval += 1 + (random.Next() % 8 == 0)) {
      const uint64_t from = random.Next() % kSecond;
      const uint64_t to = from + 1 + random.Next() % (kSecond - from);
      const auto points = Points(interval, random.Next() % (3 * cap), from, to, random);
      const IntervalReduction reduction = reducer.Reduce(interval, points);
      REQUIRE(reduction.kept.size() <= cap);
      for (const KeptPoint& point : reduction.kept) times.push_back(points[point.index].time_ns);
    }
    REQUIRE(testing::MostInAnySecond(times) <= SlidingCap(cap));
  }
}

TEST_CASE("An even load is reduced only to the cap, with equal weights") {
  Random random(3);
  IntervalReducer reducer({.cap = 150});
  for (uint64_t interval = 0; interval < 20; ++interval) {
    const auto points = Points(interval, 190, 0, kSecond, random);
    const IntervalReduction reduction = reducer.Reduce(interval, points);
    REQUIRE(reduction.kept.size() == 150);
    for (const KeptPoint& point : reduction.kept) CHECK(point.weight == Approx(reduction.tau));
  }
}

TEST_CASE("A salvager that notes the samples in the file reduces like the drain") {
  Random random(4);
  IntervalReducer drain({.cap = 50, .recording = 7});
  const auto first = Points(0, 150, kSecond * 9 / 10, kSecond, random);
  const auto second = Points(1, 150, 0, kSecond / 10, random);
  const IntervalReduction in_file = drain.Reduce(0, first);
  const IntervalReduction by_drain = drain.Reduce(1, second);
  IntervalReducer salvager({.cap = 50, .recording = 7});
  for (const KeptPoint& point : in_file.kept) salvager.NoteSample(0, first[point.index].time_ns);
  const IntervalReduction by_salvager = salvager.Reduce(1, second);
  REQUIRE(by_drain.kept.size() < 50);
  REQUIRE(by_salvager.kept.size() == by_drain.kept.size());
  for (size_t i = 0; i < by_drain.kept.size(); ++i) {
    CHECK(by_salvager.kept[i].index == by_drain.kept[i].index);
    CHECK(by_salvager.kept[i].weight == by_drain.kept[i].weight);
  }
}

// n = 4,000 seeds; statistic: z of the mean estimate of each tenth's share; false-alarm rate 10 x 1e-7 (|z| <= 5.3).
TEST_CASE("Prefixes that are reduced again give unbiased estimates of every part") {
  Random arrivals(5);
  const auto first = Points(0, 300, kSecond * 9 / 10, kSecond, arrivals);
  auto second = Points(1, 100, 0, kSecond / 10, arrivals);
  const auto rest = Points(1, 100, kSecond / 10, kSecond, arrivals);
  second.insert(second.end(), rest.begin(), rest.end());
  for (size_t i = 0; i < second.size(); ++i) second[i].weight = 100.0 * static_cast<double>(1 + i % 17);
  constexpr int kRuns = 4000;
  std::array<double, 10> sum{};
  std::array<double, 10> squares{};
  std::array<double, 10> truth{};
  for (size_t i = 0; i < second.size(); ++i) truth[i % 10] += second[i].weight;
  for (int run = 0; run < kRuns; ++run) {
    IntervalReducer reducer({.cap = 60, .recording = Mix64(static_cast<uint64_t>(run))});
    reducer.Reduce(0, first);
    std::array<double, 10> estimate{};
    for (const KeptPoint& point : reducer.Reduce(1, second).kept) {
      estimate[point.index % 10] += point.weight;
    }
    for (size_t part = 0; part < 10; ++part) {
      sum[part] += estimate[part];
      squares[part] += estimate[part] * estimate[part];
    }
  }
  for (size_t part = 0; part < 10; ++part) {
    const double mean = sum[part] / kRuns;
    const double variance = squares[part] / kRuns - mean * mean;
    CHECK(std::abs(mean - truth[part]) / std::sqrt(variance / kRuns) <= 5.3);
  }
}

// The cap of each interval where a recording may keep N samples in all.
namespace {

// Points of weights 1000 to 3000, spread over the interval.
std::vector<BufferedPoint> WeightedPoints(uint64_t interval, size_t count, Random& random) {
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
      const auto reduction = reducer.Reduce(interval, WeightedPoints(interval, count, random));
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
    intervals.push_back(WeightedPoints(intervals.size(), count, arrivals));
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
  CHECK(std::abs(sum / kRuns) <= testing::kBound * std::sqrt(squares / kRuns / kRuns));
  for (size_t i = 0; i < intervals.size(); ++i) {
    for (size_t k = 0; k < intervals[i].size(); ++k) {
      const double p = std::min(1.0, intervals[i][k].weight / std::max(tau[i], 1e-9));
      CAPTURE(i, k, p, kept[i][k]);
      if (p == 1) {
        CHECK(kept[i][k] == kRuns);
      } else {
        CHECK(std::abs(testing::BinomialZ(kept[i][k], kRuns, p)) <= testing::kBound);
      }
    }
  }
}

TEST_CASE("A salvager that notes how many intervals had points continues like the killed drain") {
  Random random(8);
  const ReducerConfig bounds{.cap = 10, .recording = 99, .max_samples = 30};
  IntervalReducer drain(bounds), salvager(bounds);
  for (uint64_t interval = 0; interval < 12; ++interval) {
    const auto points = WeightedPoints(interval, interval % 4 == 1 ? 0 : 30, random);
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

// Limits on the prefixes of an interval.

std::vector<SlotWeight> Points(size_t slot, size_t count, double weight) {
  return std::vector<SlotWeight>(count, {slot, weight});
}

std::vector<SlotWeight> operator+(std::vector<SlotWeight> a, const std::vector<SlotWeight>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

TEST_CASE("If only the last limit matters there is one group") {
  const std::vector<size_t> room = {60, 80, 100};
  const auto groups = GroupSlots(Points(0, 70, 1) + Points(1, 70, 1) + Points(2, 70, 1), room);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].end == 3);
  CHECK(groups[0].cap == 100);
}

TEST_CASE("A few points are all kept") {
  const std::vector<size_t> room = {60, 80, 100};
  const auto groups = GroupSlots(Points(1, 70, 5) + Points(2, 20, 1), room);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].cap == 90);
}

TEST_CASE("A burst at the start gets what it needs, and later points the rest") {
  const std::vector<size_t> room = {45, 45, 100};
  const auto groups = GroupSlots(Points(0, 300, 9) + Points(2, 80, 1), room);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].cap == 45);
  CHECK(groups[1].end == 3);
  CHECK(groups[1].cap == 55);
}

TEST_CASE("Without space nothing is kept, and no points need none") {
  const std::vector<size_t> none = {0, 0};
  size_t sum = 0;
  for (const SlotGroup& group : GroupSlots(Points(0, 3, 1) + Points(1, 3, 1), none)) sum += group.cap;
  CHECK(sum == 0);
  CHECK(GroupSlots({}, none).back().end == 2);
}

// Bounds on prefixes make a chain, so the most that can be kept is what a greedy walk keeps; and all must be spent.
TEST_CASE("For any weights the limits hold and the interval is as full as they allow") {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    std::vector<SlotWeight> points;
    for (size_t n = random.Next() % 400; n > 0; --n)
      points.push_back({random.Next() % 7, std::exp(10 * random.Uniform())});
    std::vector<size_t> room;
    for (size_t j = 0; j < 7; ++j) room.push_back((j > 0 ? room.back() : 0) + random.Next() % 40);
    const auto groups = GroupSlots(points, room);
    size_t begin = 0, used = 0;
    for (const SlotGroup& group : groups) {
      REQUIRE(group.end > begin);
      used += group.cap;
      REQUIRE(used <= room[group.end - 1]);
      begin = group.end;
    }
    REQUIRE(begin == room.size());
    size_t most = 0;
    for (size_t j = 0; j < room.size(); ++j) {
      most += static_cast<size_t>(std::count_if(points.begin(), points.end(), [&](auto& p) { return p.slot == j; }));
      most = std::min(most, room[j]);
    }
    REQUIRE(used == most);
  }
}

}  // namespace heaprec::throttle
