#include <catch2/catch.hpp>

#include "throttle/controller.h"

namespace heaprec::throttle {
namespace {

constexpr uint64_t kMs = 1'000'000, kSecond = 1'000'000'000;

// One interval of 1 s in ticks of 20 ms, `points` evenly over those from `begin_ms` to `end_ms`.
void Burst(SlidingBudget& sliding_budget, uint64_t second, uint64_t begin_ms, uint64_t end_ms, double points) {
  const double per_tick = points / static_cast<double>((end_ms - begin_ms) / 20);
  for (uint64_t ms = 20; ms <= 1000; ms += 20) {
    const double count = ms > begin_ms && ms <= end_ms ? per_tick : 0;
    sliding_budget.Add(second * kSecond + ms * kMs - 1, count, count * 1'000);
  }
}

TEST_CASE("Without an interval before, the sliding cap limits the points") {
  SlidingBudget sliding_budget(kSecond, 150, 195);
  sliding_budget.Add(100 * kMs, 120, 120);
  CHECK(sliding_budget.sliding_budget() == 120);
  sliding_budget.Add(200 * kMs, 500, 500);
  CHECK(sliding_budget.sliding_budget() == 195);
}

TEST_CASE("After a burst at the end of an interval, an early burst may use the rest of the sliding cap") {
  SlidingBudget sliding_budget(kSecond, 150, 195);
  Burst(sliding_budget, 0, 800, 900, 300);
  sliding_budget.Add(kSecond + 100 * kMs, 300, 300'000);
  CHECK(sliding_budget.sliding_budget() == Approx(195 - 150));
  // Points of quiet times while the old burst is less than an interval ago do not help, those after it do.
  sliding_budget.Add(kSecond + 700 * kMs, 50, 50'000);
  CHECK(sliding_budget.sliding_budget() == Approx(195 - 150));
  sliding_budget.Add(kSecond + 950 * kMs, 50, 50'000);
  CHECK(sliding_budget.sliding_budget() == Approx(195 - 150 + 50));
}

TEST_CASE("A steady interval after a steady one can keep all its points") {
  SlidingBudget sliding_budget(kSecond, 150, 195);
  Burst(sliding_budget, 0, 0, 1000, 300);
  for (uint64_t ms = 20; ms < 1000; ms += 20) {
    sliding_budget.Add(kSecond + ms * kMs, 3, 3'000);
    CHECK(sliding_budget.sliding_budget() == Approx(static_cast<double>(ms) / 20 * 3));
  }
}

TEST_CASE("Points of a small interval count as one each, those of a large one by weight") {
  SlidingBudget few(kSecond, 150, 195), many(kSecond, 150, 195);
  Burst(few, 0, 500, 1000, 100);
  few.Add(kSecond + 10 * kMs, 300, 300);
  CHECK(few.sliding_budget() == Approx(195 - 100));
  many.Add(100 * kMs, 1'000, 9'000);  // light points early,
  many.Add(900 * kMs, 10, 1'000);     // a tenth of the weight late
  many.Add(kSecond + 500 * kMs, 0, 0);
  many.Add(kSecond + 600 * kMs, 500, 1'000);
  CHECK(many.sliding_budget() == Approx(195 - 15));
}

TEST_CASE("An interval without the one before it has no sliding limit; a count across the border is divided") {
  SlidingBudget sliding_budget(kSecond, 150, 195);
  Burst(sliding_budget, 0, 900, 1000, 300);
  sliding_budget.Add(5 * kSecond + 500 * kMs, 45, 45);
  CHECK(sliding_budget.sliding_budget() == Approx(45 * 0.5 / 4.5).epsilon(1e-6));
  sliding_budget.Add(5 * kSecond + 600 * kMs, 500, 500);
  CHECK(sliding_budget.sliding_budget() == 195);
}

}  // namespace
}  // namespace heaprec::throttle
