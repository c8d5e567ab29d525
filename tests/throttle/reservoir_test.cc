#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "throttle/priority_reservoir.h"
#include "throttle/random.h"

namespace heaprec::throttle {
namespace {

// An item's life, in steps: it is there at [born, dies).
struct Life {
  uint64_t id;
  double weight;
  int born, dies;
};

// Weights over three powers of ten; lives short and long, so that what is there at a time is a mixture of ages.
std::vector<Life> SomeLives(uint64_t seed, int steps, int births) {
  Random random(seed);
  std::vector<Life> lives;
  uint64_t id = 1;
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < births; ++i) {
      const double weight = std::pow(10, 3 * random.Uniform());
      const int life = random.Uniform() < 0.8 ? 1 + static_cast<int>(3 * random.Uniform())
                                              : 1 + static_cast<int>(2 * steps * random.Uniform());
      lives.push_back({id++, weight, step, step + life});
    }
  }
  return lives;
}

// What a reservoir of that seed estimates at each step. As the recorder uses it: all births of a step are added, then
// it is shrunk; deaths between.
std::vector<double> Estimates(const std::vector<Life>& lives, int steps, size_t capacity, uint64_t seed) {
  PriorityReservoir reservoir(capacity, seed);
  struct Kept {
    double weight, threshold;
  };
  std::map<uint64_t, Kept> kept;
  std::vector<double> estimates;
  for (int step = 0; step < steps; ++step) {
    for (const Life& life : lives) {
      if (life.dies == step && reservoir.Remove(life.id)) kept.erase(life.id);
    }
    for (const Life& life : lives) {
      if (life.born != step) continue;
      reservoir.Add(life.id, life.weight);
      kept[life.id] = {life.weight, 0};
    }
    for (const PriorityReservoir::Evicted& released : reservoir.EvictExcess()) {
      kept.erase(released.id);
      for (auto& [id, one] : kept) one.threshold = std::max(one.threshold, released.threshold);
    }
    REQUIRE(kept.size() <= capacity);
    REQUIRE(reservoir.size() == kept.size());
    double sum = 0;
    for (const auto& [id, one] : kept) sum += std::max(one.weight, one.threshold);
    estimates.push_back(sum);
  }
  return estimates;
}

TEST_CASE("The kept entries estimate the live objects at any time without bias") {
  constexpr int kSteps = 60, kRuns = 4000;
  const std::vector<Life> lives = SomeLives(7, kSteps, 12);
  std::vector<double> sums(kSteps), squares(kSteps);
  for (uint64_t run = 0; run < kRuns; ++run) {
    const std::vector<double> estimates = Estimates(lives, kSteps, 25, Mix64(1000 + run));
    for (size_t step = 0; step < kSteps; ++step) {
      sums[step] += estimates[step];
      squares[step] += estimates[step] * estimates[step];
    }
  }
  for (int step = 0; step < kSteps; ++step) {
    double truth = 0;
    for (const Life& life : lives) truth += life.born <= step && step < life.dies ? life.weight : 0;
    const double mean = sums[static_cast<size_t>(step)] / kRuns;
    const double variance = squares[static_cast<size_t>(step)] / kRuns - mean * mean;
    CAPTURE(step, truth, mean, variance);
    // 5.7 standard errors: each step raises a false alarm once in 8e7 seeds, all of them in 1.4e6.
    CHECK(std::abs(mean - truth) <= 5.7 * std::sqrt(std::max(variance, 0.0) / kRuns) + 1e-9 * truth);
  }
}

TEST_CASE("Nothing is released while there are enough entries, and the estimate is then exact") {
  const std::vector<Life> lives = SomeLives(3, 10, 4);
  const std::vector<double> estimates = Estimates(lives, 10, 40, 1);
  for (int step = 0; step < 10; ++step) {
    double truth = 0;
    for (const Life& life : lives) truth += life.born <= step && step < life.dies ? life.weight : 0;
    CHECK(estimates[static_cast<size_t>(step)] == Approx(truth).epsilon(1e-12));
  }
}

TEST_CASE("The lowest priority is released first, and the thresholds rise") {
  PriorityReservoir reservoir(10, 5);
  for (uint64_t id = 1; id <= 100; ++id) reservoir.Add(id, 1);
  const std::vector<PriorityReservoir::Evicted> released = reservoir.EvictExcess();
  REQUIRE(released.size() == 90);
  CHECK(std::is_sorted(released.begin(), released.end(),
                       [](const auto& a, const auto& b) { return a.threshold < b.threshold; }));
  CHECK(reservoir.size() == 10);
  CHECK(reservoir.EvictExcess().empty());
  // With all weights 1 the highest threshold of the released is about 1 / (the share that stays).
  CHECK(released.back().threshold > 2);
  CHECK_FALSE(reservoir.Remove(released.back().id));
}

TEST_CASE("The kept samples depend on the seed and the ids, not on their order") {
  const auto run = [](uint64_t seed, bool backwards) {
    PriorityReservoir reservoir(5, seed);
    for (uint64_t i = 1; i <= 50; ++i) {
      const uint64_t id = backwards ? 51 - i : i;
      reservoir.Add(id, static_cast<double>(id % 7 + 1));
    }
    std::vector<uint64_t> ids;
    for (const auto& released : reservoir.EvictExcess()) ids.push_back(released.id);
    return ids;
  };
  CHECK(run(9, false) == run(9, true));
  CHECK(run(9, false) != run(10, false));
}

TEST_CASE("A reservoir with many births and deaths holds no more than is live") {
  PriorityReservoir reservoir(100, 1);
  Random random(2);
  for (uint64_t id = 1; id <= 100'000; ++id) {
    reservoir.Add(id, 1 + 100 * random.Uniform());
    (void)reservoir.EvictExcess();
    if (id > 50) reservoir.Remove(id - 50);
    REQUIRE(reservoir.size() <= 100);
  }
}

}  // namespace
}  // namespace heaprec::throttle
