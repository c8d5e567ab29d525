#include <catch2/catch.hpp>

#include "throttle/throttle.h"

namespace heaprec::throttle {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

TEST_CASE("Points take one percent of the CPU time of the second before") {
  PointAllowance allowance(/*cost_ns=*/2000, /*least=*/4000, /*most=*/100'000);
  CHECK(allowance.Update(5 * kSecond, 7 * kSecond) == 4000);  // what came before is not known
  CHECK(allowance.Update(6 * kSecond, 10 * kSecond) == Approx(3 * 0.01 * 1e9 / 2000));
  CHECK(allowance.Update(8 * kSecond, 14 * kSecond) == Approx(2 * 0.01 * 1e9 / 2000));
}

TEST_CASE("The allowance has a lower and an upper limit, and the lower one has priority") {
  PointAllowance allowance(2000, 4000, 20'000);
  allowance.Update(kSecond, 0);
  CHECK(allowance.Update(2 * kSecond, 0) == 4000);
  CHECK(allowance.Update(3 * kSecond, 40 * kSecond) == 20'000);
  PointAllowance small(2000, 4000, 1000);
  small.Update(kSecond, 0);
  CHECK(small.Update(2 * kSecond, 10 * kSecond) == 4000);
}

TEST_CASE("Clocks that do not advance do not change the allowance") {
  PointAllowance allowance(2000, 4000, 100'000);
  allowance.Update(kSecond, kSecond);
  const double before = allowance.Update(2 * kSecond, 4 * kSecond);
  CHECK(before == Approx(15'000));
  CHECK(allowance.Update(2 * kSecond, 9 * kSecond) == before);
  CHECK(allowance.Update(3 * kSecond, 2 * kSecond) == before);
  CHECK(allowance.Update(4 * kSecond, 4 * kSecond) == Approx(10'000));
}

}  // namespace
}  // namespace heaprec::throttle
