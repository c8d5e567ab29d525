#include "throttle/interval_reducer.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

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

}  // namespace heaprec::throttle
