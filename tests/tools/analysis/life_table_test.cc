// Lifetimes: life tables with known answers, simulated ones against the truth, and which of the dead are kept.
//
// The simulation: 150 processes of 40 s whose objects live 3 s on average and are found dead by collections 0.7 s
// apart. The limits are five standard deviations of what they limit away, or more: another seed would fail with less
// than 1e-6.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/tools/analysis/simulated_lives.h"
#include "tools/analysis/live/live_group.h"

namespace heaprec::tools {
namespace {

using format::LifecycleKind;
using testing::kSecondNs;
using testing::SimulatedProcess;
using testing::SimulatedRun;
using testing::SimulatedTracker;
using testing::TrueLife;

// Objects of 100 bytes that stand for 1,000 each, all born at second 0; collections at seconds 1 to 9.
Lifetimes Born(const std::vector<format::LifecycleEvent>& lifecycle_events, size_t count) {
  Lifetimes lives(format::FileHeader{});
  format::Block block;
  for (uint64_t i = 0; i < count; ++i) {
    format::Sample sample{.id = i, .size = 100, .weight = 1000};
    block.samples.push_back(sample);
  }
  for (uint64_t second = 1; second < 10; ++second) {
    format::ProcessState state;
    state.time_ns = second * kSecondNs;
    state.kind = format::ProcessStateKind::kGcBegin;
    state.collections = second;
    block.states.push_back(state);
  }
  block.lifecycle_events = lifecycle_events;
  block.end_ns = 10 * kSecondNs;
  block.ending = {10 * kSecondNs, "jvm exit"};
  const std::vector<uint32_t> subjects(count, 0);
  lives.Add(block, subjects, {});
  lives.Close(10 * kSecondNs);
  return lives;
}

format::LifecycleEvent Died(uint64_t id, uint64_t collection) {
  return {id, collection * kSecondNs + 1000, LifecycleKind::kDied, collection - 1, 0};
}

LifeTable TableOf(const Lifetimes& lives, const AgeAxis& steps) {
  LifeTable table;
  for (const Lifetime& life : lives.all()) table.Add(steps.Of(life, lives));
  return table;
}

TEST_CASE("The survival curve never rises, however few samples reach an age") {
  // Of 200, all but one die at the first collection.
  std::vector<format::LifecycleEvent> deaths;
  for (uint64_t i = 1; i < 200; ++i) deaths.push_back(Died(i, 1));
  const AgeAxis steps = AgeAxis::InCollections(16);
  const auto curve = steps.CurveOf(TableOf(Born(deaths, 200), steps));
  REQUIRE(curve.size() == 9);
  CHECK(curve[0].reached.high < 0.05);
  for (size_t i = 1; i < curve.size(); ++i) {
    CHECK(curve[i].reached.value == Approx(0.005));
    CHECK(curve[i].reached.high <= curve[i - 1].reached.high);
  }
}

TEST_CASE("A survival curve counts the samples that reach a step, and drops those that are released") {
  // Of ten, five die at the first collection, one at the third; one is released, with no threshold, after the second.
  const Lifetimes lives = Born({Died(0, 1),
                                Died(1, 1),
                                Died(2, 1),
                                Died(3, 1),
                                Died(4, 1),
                                Died(5, 3),
                                {6, 2 * kSecondNs + 5000, LifecycleKind::kEvicted, 2, 0}},
                               10);
  const AgeAxis steps = AgeAxis::InCollections(16);
  const LifeTable table = TableOf(lives, steps);
  CHECK(table.deaths() == 6);
  const auto curve = steps.CurveOf(table);
  REQUIRE(curve.size() == 9);
  CHECK(curve[0].age == 1);
  CHECK(curve[0].reached.value == Approx(0.5));
  CHECK(curve[1].reached.value == Approx(0.5));
  CHECK(curve[2].reached.value == Approx(0.5 * 0.75));
  CHECK(curve[8].reached.value == Approx(0.5 * 0.75));
  CHECK(curve[0].reached.low < 0.3);
  CHECK(curve[0].reached.high > 0.7);
  CHECK(curve[8].reached.high < 0.82);
}

TEST_CASE("A curve by seconds has a median unless more than half is live") {
  const Lifetimes lives = Born({Died(0, 1), Died(1, 2), Died(2, 3), Died(3, 4), Died(4, 5), Died(5, 6)}, 8);
  const AgeAxis steps = AgeAxis::InSeconds(10 * kSecondNs);
  const MedianLifetime median = AgeAxis::MedianOf(steps.CurveOf(TableOf(lives, steps)));
  REQUIRE(median.value);
  CHECK(*median.value > 3.3);
  CHECK(*median.value < 4.8);
  REQUIRE(median.low);
  CHECK(*median.low < *median.value);
  const Lifetimes others = Born({Died(0, 1)}, 8);
  CHECK_FALSE(AgeAxis::MedianOf(steps.CurveOf(TableOf(others, steps))).value);
  CHECK(steps.CurveOf(LifeTable()).empty());
}

TEST_CASE("The share that reaches an age is interpolated between steps, and ends with the curve") {
  const std::vector<Survival> dies{{1, {0.8, 0.7, 0.9}}, {2, {0.4, 0.2, 0.6}}, {4, {0, 0, 0.1}}};
  CHECK(AgeAxis::ReachedAt(dies, 0)->value == 1);
  CHECK(AgeAxis::ReachedAt(dies, 0.5)->value == Approx(0.9));
  CHECK(AgeAxis::ReachedAt(dies, 1.5)->low == Approx(0.45));
  CHECK(AgeAxis::ReachedAt(dies, 3)->high == Approx(0.35));
  CHECK(AgeAxis::ReachedAt(dies, 100)->value == 0);
  const std::vector<Survival> lives{{1, {0.8, 0.7, 0.9}}};
  CHECK(AgeAxis::ReachedAt(lives, 1)->value == Approx(0.8));
  CHECK_FALSE(AgeAxis::ReachedAt(lives, 1.1));
  CHECK_FALSE(AgeAxis::ReachedAt({}, 1));
}

TEST_CASE("If none survives the last step, the interval still has an upper end") {
  const Lifetimes lives = Born({Died(0, 1), Died(1, 1), Died(2, 1)}, 3);
  const AgeAxis steps = AgeAxis::InCollections(4);
  const auto curve = steps.CurveOf(TableOf(lives, steps));
  REQUIRE(curve.size() == 1);
  CHECK(curve[0].reached.value == 0);
  CHECK(curve[0].reached.high > 0.3);
}

TEST_CASE("Survival is unbiased although most samples are released before they die, and its intervals are right") {
  SimulatedProcess process;
  process.sites = {{400, 400, [](throttle::Random* random, double) { return 3 * random->Exponential(); }},
                   // Others that take the room: heavy, so that they push the light ones out.
                   {40, 20'000, [](throttle::Random* random, double) { return 9 * random->Exponential(); }}};
  process.seconds = 40;
  process.bound = 120;
  const std::vector<uint64_t> ages{1, 3, 6};
  constexpr size_t kRuns = 150;
  std::vector<double> sum(ages.size()), squares(ages.size()), held(ages.size()), truth(ages.size());
  double released = 0, all = 0;
  std::vector<std::vector<Estimate>> estimates(ages.size());
  std::vector<double> born(ages.size()), reached(ages.size());
  for (uint64_t run = 0; run < kRuns; ++run) {
    const SimulatedRun simulated = SimulatedTracker(process, 5000 + run).Run();
    const Lifetimes lives = simulated.Lifetimes();
    const AgeAxis steps = AgeAxis::InCollections(8);
    LifeTable table;
    for (const Lifetime& life : lives.all()) {
      if (life.subject != 0) continue;
      table.Add(steps.Of(life, lives));
      all += 1, released += life.end == LifetimeEnd::kEvicted;
    }
    const auto curve = steps.CurveOf(table);
    for (size_t i = 0; i < ages.size(); ++i) estimates[i].push_back(curve.at(ages[i] - 1).reached);
    for (const TrueLife& one : simulated.truth) {
      if (one.site != 0 || one.birth_ns > 30 * kSecondNs) continue;
      for (size_t i = 0; i < ages.size(); ++i) {
        born[i] += static_cast<double>(one.size);
        if (one.found_in > one.gcs_at_birth + ages[i]) reached[i] += static_cast<double>(one.size);
      }
    }
  }
  CHECK(released > 0.5 * all);
  for (size_t i = 0; i < ages.size(); ++i) {
    const double known = reached[i] / born[i];
    for (const Estimate& one : estimates[i]) {
      sum[i] += one.value - known, squares[i] += (one.value - known) * (one.value - known);
      held[i] += one.low <= known && known <= one.high;
    }
    const double mean = sum[i] / kRuns, sigma = std::sqrt(squares[i] / kRuns / kRuns);
    INFO(ages[i] << " collections: " << known << ", off by " << mean << " +- " << sigma << ", held "
                 << held[i] / kRuns);
    CHECK(std::abs(mean) < 5.5 * sigma);
    CHECK(sigma < 0.01);
    CHECK(held[i] / kRuns > 0.84);
  }
}

TEST_CASE("Each dead object is chosen with the same probability, whenever it died") {
  constexpr size_t kKept = 20, kOffered = 200, kRuns = 4000;
  std::vector<double> kept(kOffered);
  for (uint64_t run = 0; run < kRuns; ++run) {
    ReservoirSample<size_t> sample(kKept, 99 + run);
    for (size_t i = 0; i < kOffered; ++i) sample.Offer([i] { return i; });
    REQUIRE(sample.kept().size() == kKept);
    CHECK(sample.seen() == kOffered);
    for (const size_t i : sample.kept()) ++kept[i];
  }
  // Chi-squared with 199 degrees of freedom, but for the fixed number kept: mean 199 * 0.9, deviation 18; 7 of them.
  double chi_squared = 0;
  const double expected = kRuns * static_cast<double>(kKept) / kOffered;
  for (const double count : kept) chi_squared += (count - expected) * (count - expected) / expected;
  CHECK(chi_squared < 199 * 0.9 + 7 * 18);
  CHECK(chi_squared > 199 * 0.9 - 7 * 18);
}

}  // namespace
}  // namespace heaprec::tools
