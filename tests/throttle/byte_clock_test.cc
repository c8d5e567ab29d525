// The rules of the byte clock, one by one; what they add up to is in byte_clock_sampling_test.cc.
#include "throttle/byte_clock.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/throttle/statistics.h"

namespace heaprec::throttle {
namespace {

using Action = HookDecision::Action;
using Delivery = DeliveryDecision::Action;
using testing::BinomialZ;
using testing::kBound;

constexpr ActiveWindow kOff{0, 9};
constexpr ActiveWindow kAlways{1, 1};     // 64 B hold a point with all but 1e-28
constexpr ActiveWindow kNever{1e-29, 2};  // 1 GB holds none

// A clock that has started with its first object.
struct Started : ByteClock {
  Started(uint64_t allocated, uint64_t size, ActiveWindow now, uint64_t seed = 1) { Start(allocated, size, seed, now); }
};

TEST_CASE("The inclusion probability is precise for tiny and huge lambda * size") {
  CHECK(InclusionProbability(1e-18, 8) == Approx(8e-18).epsilon(1e-12));
  CHECK(InclusionProbability(1e-3, 1000) == Approx(1 - std::exp(-1.0)).epsilon(1e-12));
  CHECK(InclusionProbability(1, 1 << 20) == 1);
  CHECK(InclusionProbability(0, 1 << 20) == 0);
}

TEST_CASE("The counted bytes are exactly those allocated since the start, for each kind of event") {
  ByteClock clock;
  clock.Start(10'000, 64, 1, kAlways);
  clock.OnRefill(10'000, 64, kAlways);
  CHECK(clock.bytes() == 64);
  clock.OnDelivered(10'000, 64, kAlways);
  CHECK(clock.bytes() == 64);
  clock.OnDelivered(11'000, 16, kNever);
  CHECK(clock.bytes() == 1'064);
  clock.OnOutside(50'000, 30'000, kOff);
  CHECK(clock.bytes() == 40'064);
  clock.OnRefill(60'000, 16, kAlways);
  clock.Finish(61'000);
  CHECK(clock.bytes() == 51'064);
  CHECK(clock.candidates() == 3);
  CHECK_FALSE(clock.started());
}

TEST_CASE("A clock that starts at the thread's position counts from there, and finds its armed point") {
  constexpr ActiveWindow kArmed{1e-3, 4};
  ByteClock clock;
  clock.StartAt(5'000, 2.5, 1, kArmed);  // the point: 2,500 bytes after 5,000
  const DeliveryDecision early = clock.OnDelivered(7'400, 24, kArmed);
  CHECK(early.action == Delivery::kNone);
  CHECK(early.gap == Approx(100));
  CHECK(clock.bytes() == 2'400);
  const DeliveryDecision decision = clock.OnDelivered(7'504, 16, kArmed);
  CHECK(decision.action == Delivery::kKept);
  CHECK_FALSE(decision.missed);
  CHECK(decision.window == 4);
  CHECK(clock.bytes() == 2'504);
}

TEST_CASE("A point between the start and the first decision is missed") {
  constexpr ActiveWindow kArmed{1e-3, 4};
  ByteClock clock;
  clock.StartAt(5'000, 2.5, 1, kArmed);
  const HookDecision decision = clock.OnRefill(9'000, 16, kNever);
  CHECK(decision.missed);
  CHECK(decision.missed_bytes == Approx((1 - 2.5) / 1e-3 + 3'984));
}

TEST_CASE("A point between the last decision and the thread's end is missed") {
  constexpr ActiveWindow kArmed{1e-3, 4};
  ByteClock clock;
  clock.StartAt(5'000, 2.5, 1, kArmed);
  CHECK_FALSE(clock.Finish(7'400).missed);
  clock.StartAt(5'000, 2.5, 1, kArmed);
  const HookDecision last = clock.Finish(9'000);
  CHECK(last.missed);
  CHECK(last.missed_bytes == Approx((1 - 2.5) / 1e-3 + 4'000));
}

TEST_CASE("A forced object that was not delivered before the thread's end is missed") {
  Started clock(64, 64, kNever);
  REQUIRE(clock.OnOutside(30'064, 30'000, kAlways).action == HookDecision::Action::kForce);
  const HookDecision last = clock.Finish(30'064);
  CHECK(last.missed);
  CHECK(last.missed_bytes == Approx(30'000));
}

TEST_CASE("A clock with a reach arms at most that many mean gaps away, and no nearer than the point") {
  constexpr ActiveWindow kSlow{1e-6, 3};
  ByteClock clock;
  clock.SetMaxGap(0.25);
  clock.StartAt(0, 2, 1, kSlow);
  CHECK(clock.OnRefill(16, 16, kSlow).gap == Approx(250'000));
  CHECK(clock.OnDelivered(1'900'016, 16, kSlow).gap == Approx((2 - 1.900016) / 1e-6));
  CHECK(clock.OnDelivered(2'000'016, 16, kSlow).action == Delivery::kKept);
}

TEST_CASE("A finished clock continues to count for its next thread") {
  Started clock(64, 64, kNever);
  clock.OnRefill(64, 64, kNever);
  clock.Finish(1'000);
  clock.Finish(2'000);
  CHECK(clock.bytes() == 1'000);
  clock.Start(128, 128, 2, kNever);
  clock.OnRefill(128, 128, kNever);
  CHECK(clock.bytes() == 1'128);
  CHECK(clock.candidates() == 2);
}

TEST_CASE("A lambda of 0, or one that is no number, means no points and an infinite gap") {
  for (double lambda : {0.0, -1.0, 1e-40, std::nan("")}) {
    Started clock(64, 64, {lambda, 1});
    CHECK(clock.OnRefill(1'000'000, 1'000'000, {lambda, 1}).gap == std::numeric_limits<double>::infinity());
    CHECK(clock.OnOutside(uint64_t{1} << 40, 1'000'000, {lambda, 1}).action == Action::kArm);
    const DeliveryDecision decision = clock.OnDelivered(uint64_t{1} << 41, 64, {lambda, 1});
    CHECK(decision.action == Delivery::kNone);
    CHECK_FALSE(decision.missed);
  }
}

TEST_CASE("An infinite lambda keeps every object with its size as weight") {
  const ActiveWindow all{std::numeric_limits<double>::infinity(), 1};
  Started clock(64, 64, all);
  REQUIRE(clock.OnRefill(64, 64, all).action == Action::kForce);
  CHECK(clock.OnDelivered(64, 64, all).weight_bytes == 64);
  CHECK(clock.OnDelivered(80, 16, all).weight_bytes == 16);
}

TEST_CASE("The gap begins at the end of the object and decreases by what is allocated") {
  const ActiveWindow now{1e-6, 1};
  Started clock(64, 64, now);
  const double gap = clock.OnRefill(64, 64, now).gap;
  REQUIRE(gap > 10'000);
  CHECK(clock.OnRefill(5'064, 64, now).gap == Approx(gap - 5'000));
  CHECK(clock.OnOutside(6'064, 1'000, now).gap == Approx(gap - 5'000));  // the outside object has a draw of its own
  CHECK(clock.OnDelivered(6'164, 64, now).gap == Approx(gap - 5'100));
}

TEST_CASE("An outside object does not change the gap to the next point") {
  const ActiveWindow now{1e-7, 1};
  Started clock(64, 64, now);
  const double gap = clock.OnRefill(64, 64, now).gap;
  uint64_t at = 64;
  HookDecision decision;
  do decision = clock.OnOutside(at += 1'000'000, 1'000'000, now);
  while (decision.action != Action::kForce);
  CHECK(decision.gap == Approx(gap));
  CHECK(clock.OnDelivered(at, 1'000'000, now).gap == Approx(gap));
}

TEST_CASE("A candidate without a decision is passed, and counted as a decision would count it") {
  const ActiveWindow now{1e-6, 1};
  Started passing(64, 64, now), touched(64, 64, now);
  double gap = passing.OnRefill(64, 64, now).gap;
  REQUIRE(touched.OnRefill(64, 64, now).gap == gap);
  REQUIRE(gap > 10'000);
  REQUIRE(passing.TrySkipRefill(5'064, 1, gap));
  CHECK(gap == touched.OnRefill(5'064, 64, {1e-6, 1}).gap);
  REQUIRE(passing.TrySkipOutside(6'064, 500, 1, gap));
  CHECK(gap == touched.OnOutside(6'064, 500, {1e-6, 1}).gap);
  CHECK(passing.bytes() == touched.bytes());
  CHECK(passing.candidates() == touched.candidates());
}

TEST_CASE("A candidate that is not passed does not change the clock") {
  const ActiveWindow now{1e-6, 1};
  Started clock(64, 64, now);
  double gap = clock.OnRefill(64, 64, now).gap;
  const auto point = 64 + static_cast<uint64_t>(gap) + 1;
  const uint64_t bytes = clock.bytes();
  SECTION("another window") {
    CHECK_FALSE(clock.TrySkipRefill(128, 2, gap));
    CHECK_FALSE(clock.TrySkipOutside(128, 64, 2, gap));
  }
  SECTION("a point in a refill's object, or before either") {
    CHECK_FALSE(clock.TrySkipRefill(point, 1, gap));
    CHECK_FALSE(clock.TrySkipOutside(point + 64, 64, 1, gap));
  }
  SECTION("a point in an object outside") { CHECK_FALSE(clock.TrySkipOutside(1'000'000'000, 1'000'000'000, 1, gap)); }
  SECTION("another thread's position") {
    CHECK_FALSE(clock.TrySkipRefill(32, 1, gap));
    CHECK_FALSE(clock.TrySkipOutside(32, 32, 1, gap));
  }
  CHECK(clock.bytes() == bytes);
  CHECK(clock.candidates() == 1);
  CHECK(clock.OnRefill(64, 0, now).gap == gap);
}

TEST_CASE("A candidate after a forced object is not passed, because the object may be missing") {
  Started clock(1'000, 1'000, kAlways);
  REQUIRE(clock.OnRefill(1'000, 1'000, kAlways).action == Action::kForce);
  double gap = 0;
  CHECK_FALSE(clock.TrySkipRefill(1'000, 1, gap));
  CHECK_FALSE(clock.TrySkipOutside(1'000, 0, 1, gap));
}

TEST_CASE("A new lambda changes only the rest of the gap") {
  const ActiveWindow high{1e-6, 1}, low{1e-8, 2};
  Started clock(64, 64, high);
  const double gap = clock.OnRefill(64, 64, high).gap;
  REQUIRE(gap > 1'000);
  CHECK(clock.OnRefill(564, 64, low).gap == Approx((gap - 500) * 100));
}

TEST_CASE("An object that is delivered early is no sample") {
  const ActiveWindow now{1e-6, 1};
  Started clock(64, 64, now);
  const double gap = clock.OnRefill(64, 64, now).gap;
  const DeliveryDecision decision = clock.OnDelivered(64 + static_cast<uint64_t>(gap), 16, now);
  CHECK(decision.action == Delivery::kNone);
  CHECK_FALSE(decision.missed);
  CHECK(decision.gap < 1);
}

TEST_CASE("Excluded bytes do not count, and do not bring the next point nearer") {
  const ActiveWindow now{1e-6, 1};
  Started clock(64, 64, now);
  const double gap = clock.OnRefill(64, 64, now).gap;
  REQUIRE(gap > 1'000);
  clock.Exclude(50'000'000);  // 50 points would be due
  CHECK(clock.GapFrom(50'000'064) == Approx(gap));
  CHECK(clock.GapFrom(50'000'564) == Approx(gap - 500));
  const auto decision = clock.OnRefill(50'000'564, 64, now);
  CHECK_FALSE(decision.missed);
  CHECK(decision.gap == Approx(gap - 500));
  CHECK(clock.bytes() == 564);
}

TEST_CASE("An object that a hook has counted is not decided on again") {
  Started clock(64, 64, kNever);
  REQUIRE(clock.OnRefill(64, 64, kAlways).action == Action::kArm);
  const DeliveryDecision decision = clock.OnDelivered(64, 64, kAlways);
  CHECK(decision.action == Delivery::kNone);
  CHECK(clock.bytes() == 64);
}

TEST_CASE("A point before the object is missed, with the weight of its bytes") {
  const ActiveWindow now{1e-6, 1};
  SECTION("found by a delivery") {
    Started clock(64, 64, now);
    const double gap = clock.OnRefill(64, 64, now).gap;
    const DeliveryDecision decision = clock.OnDelivered(64 + static_cast<uint64_t>(gap) + 5'064, 64, now);
    CHECK(decision.missed);
    CHECK(decision.action == Delivery::kNone);
    CHECK(decision.missed_bytes == Approx(1e6 + 5'064).margin(1));
  }
  SECTION("found by a refill, whose object still has its own chance") {
    Started clock(64, 64, now);
    const double gap = clock.OnRefill(64, 64, now).gap;
    const HookDecision decision = clock.OnRefill(64 + static_cast<uint64_t>(gap) + 100'005'000, 100'000'000, now);
    CHECK(decision.missed);
    CHECK(decision.missed_bytes == Approx(1e6 + 5'000).margin(1));
    CHECK(decision.action == Action::kForce);  // lambda * size = 100
  }
}

TEST_CASE("A forced object that is never delivered is missed with its weight, and the next one is independent") {
  Started clock(1'000, 1'000, {1e-3, 1}, 3);
  HookDecision decision;
  uint64_t at = 1'000;
  do decision = clock.OnOutside(at += 1'000, 1'000, {1e-3, 1});
  while (decision.action != Action::kForce);
  decision = clock.OnRefill(at + 16, 16, kNever);
  CHECK(decision.missed);
  CHECK(decision.missed_bytes >= 1'000 / InclusionProbability(1e-3, 1'000) - 1e-6);
}

TEST_CASE("A position that goes back restarts the clock: another thread has the same memory") {
  Started clock(1'000'000, 64, kNever);
  clock.OnRefill(1'000'000, 64, kNever);
  const HookDecision decision = clock.OnRefill(4'096, 4'096, kAlways);
  CHECK_FALSE(decision.missed);
  CHECK(decision.action == Action::kForce);  // the first object can be hit, under lambda in force
  CHECK(clock.bytes() == 64 + 4'096);
}

TEST_CASE("A higher lambda changes neither the probability nor the window of an armed point") {
  const ActiveWindow armed{1e-2, 5}, now{1, 6};
  Started clock(64, 64, armed);
  while (clock.OnRefill(clock.bytes() + 64, 64, armed).action != Action::kForce) {
  }
  const DeliveryDecision decision = clock.OnDelivered(clock.bytes(), 64, now);
  CHECK(decision.action == Delivery::kKept);
  CHECK(decision.window == 5);
  CHECK(decision.weight_bytes == Approx(64 / InclusionProbability(1e-2, 64)));
  CHECK(decision.effective_bytes == Approx(100));
}

// n = 200,000 per case; statistic: kept objects, binomial with pi(lambda now, size); |z| <= 6: 2e-9 each, 12 cases.
TEST_CASE("An object that was armed with a higher lambda is kept with the probability of the current one") {
  constexpr int kTrials = 200'000;
  const ActiveWindow now{1e-3, 8};
  const double ratio = GENERATE(1.0, 3.0, 10.0, 1000.0);  // lambda armed over lambda now
  const uint64_t size = GENERATE(16, 1'000, 3'000);
  const ActiveWindow armed{now.lambda * ratio, 7};
  const double pi = InclusionProbability(now.lambda, size);
  int by_refill = 0, by_byte = 0, by_outside = 0, drawn = 0;
  Random random(42);
  for (int i = 0; i < kTrials; ++i) {
    const uint64_t seed = Mix64(static_cast<uint64_t>(i) + 1);
    const auto count = [&](const DeliveryDecision& decision, int* kept) {
      if (decision.action != Delivery::kKept) return;
      ++*kept;
      if (std::abs(decision.weight_bytes * pi / static_cast<double>(size) - 1) > 1e-12) FAIL("a wrong weight");
      if (decision.window != (ratio > 1 ? 8u : 7u)) FAIL("a wrong window");
    };
    Started clock(size, size, armed, seed);
    if (clock.OnRefill(size, size, now).action == Action::kForce) count(clock.OnDelivered(size, size, now), &by_refill);
    Started other(0, 0, armed, seed);  // as if a touch had left this clock armed where the object begins
    count(other.OnDelivered(size, size, now), &by_byte);
    Started third(size, size, armed, seed);
    if (third.OnOutside(size, size, armed).action == Action::kForce)
      count(third.OnDelivered(size, size, now), &by_outside);
    // The JVM draws: delivered with pi(lambda drawn), then thinned.
    if (random.Uniform() < InclusionProbability(armed.lambda, size))
      count(DecideJvmtiSample(armed, size, now, random), &drawn);
  }
  CAPTURE(ratio, size, pi);
  CHECK(std::abs(BinomialZ(by_refill, kTrials, pi)) <= kBound);
  CHECK(std::abs(BinomialZ(by_byte, kTrials, pi)) <= kBound);
  CHECK(std::abs(BinomialZ(by_outside, kTrials, pi)) <= kBound);
  CHECK(std::abs(BinomialZ(drawn, kTrials, pi)) <= kBound);
}

// n = 200,000 per case; statistics: points and whole points, binomial with pi of the lower lambda of each kind; |z| <=
// 6: 2e-9 each, 12 cases of two.
TEST_CASE("A point is light or whole by the lower lambda of each kind, armed or current") {
  constexpr int kTrials = 200'000;
  const ActiveWindow now{1e-3, 8, 2e-4};
  const double armed_lambda = GENERATE(5e-4, 1e-3, 1e-2);
  const double armed_whole = GENERATE(1e-4, 2e-4);
  const uint64_t size = GENERATE(16, 3'000);
  const ActiveWindow armed{armed_lambda, 7, armed_whole};
  const double pi = InclusionProbability(std::min(now.lambda, armed.lambda), size);
  const double pi_whole = InclusionProbability(armed_whole, size);
  const auto length = static_cast<double>(size);
  Random random(42);
  int points = 0, whole = 0;
  double effective = 0;
  for (int i = 0; i < kTrials; ++i) {
    Started clock(0, 0, armed, Mix64(static_cast<uint64_t>(i) + 1));
    const DeliveryDecision decision = clock.OnDelivered(size, size, now);
    const bool is_whole = decision.action == Delivery::kKept;
    if (!is_whole && decision.action != Delivery::kLight) continue;
    ++points;
    whole += is_whole;
    effective += decision.effective_bytes;
    if (std::abs(decision.point_weight * pi / length - 1) > 1e-12) FAIL("a wrong weight");
    if (is_whole && std::abs(decision.weight_bytes * pi_whole / length - 1) > 1e-12) FAIL("a wrong weight");
    if (!is_whole && decision.weight_bytes != 0) FAIL("a light point with the weight of a sample");
    if (decision.window != 7) FAIL("a wrong window");
  }
  CAPTURE(armed_lambda, armed_whole, size);
  CHECK(std::abs(BinomialZ(points, kTrials, pi)) <= kBound);
  CHECK(std::abs(BinomialZ(whole, kTrials, pi_whole)) <= kBound);
  CHECK(effective / points == Approx(pi_whole / pi / armed_whole));
}

TEST_CASE("A sample has the window with the lower lambda for whole points") {
  Random random(1);
  for (const auto& [armed, now] : {std::pair(ActiveWindow{1e-3, 7, 1e-4}, ActiveWindow{1e-4, 8, 5e-5}),
                                   std::pair(ActiveWindow{1e-4, 7, 1e-4}, ActiveWindow{1e-2, 8, 5e-5}),
                                   std::pair(ActiveWindow{1e-3, 7}, ActiveWindow{1e-2, 8, 5e-5})}) {
    DeliveryDecision decision;
    while (decision.action != Delivery::kKept) decision = DecideJvmtiSample(armed, 64, now, random);
    CHECK(decision.window == 8);
    CHECK(decision.weight_bytes == Approx(64 / InclusionProbability(5e-5, 64)));
    CHECK(decision.point_weight == Approx(64 / InclusionProbability(std::min(armed.lambda, now.lambda), 64)));
  }
}

TEST_CASE("When lambda has fallen to 0 an armed point is thinned, with its armed weight") {
  Started clock(64, 64, kAlways);
  REQUIRE(clock.OnRefill(64, 64, kAlways).action == Action::kForce);
  const DeliveryDecision decision = clock.OnDelivered(64, 64, kOff);
  CHECK(decision.action == Delivery::kThinned);
  CHECK(decision.weight_bytes == Approx(64));
  CHECK(decision.gap == std::numeric_limits<double>::infinity());
}

// n = 1,000,000; statistic: kept events, binomial with p = 0.03; |z| <= 6: 2e-9.
TEST_CASE("An event is kept with its probability and weighs the inverse of it") {
  Random random(7);
  int kept = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const DeliveryDecision decision = DecideEvent({0.03, 4}, random);
    if (decision.action != Delivery::kKept) continue;
    ++kept;
    if (decision.weight_bytes != Approx(1 / 0.03) || decision.window != 4) FAIL("a wrong weight or window");
  }
  CHECK(std::abs(BinomialZ(kept, 1e6, 0.03)) <= kBound);
  CHECK(DecideEvent(kOff, random).action == Delivery::kNone);
  CHECK(DecideEvent({2, 4}, random).weight_bytes == 1);
}

TEST_CASE("an exponential draw is never 0 and never infinite") {
  // Next() >> 12 is at least 0 and at most 2^52 - 1: the ends of the formula in random.h.
  const auto draw = [](double k) { return -std::log((k + 0.5) * 0x1p-52); };
  CHECK(draw(0x1p52 - 1) > 0);
  CHECK(std::isfinite(draw(0)));
}

}  // namespace
}  // namespace heaprec::throttle
