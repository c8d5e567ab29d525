#include "tools/analysis/estimate/confidence_interval.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace heaprec::tools {
namespace {

TEST_CASE("A share of equal independent samples has Clopper and Pearson's interval") {
  // 3 of 10: exactly 0.06674 and 0.65245.
  const Estimate some = ShareInterval(0.3, 0.3 * 0.7 / 10, 0.1);
  CHECK(some.value == 0.3);
  CHECK(some.low == Approx(0.06674).margin(0.002));
  CHECK(some.high == Approx(0.65245).margin(0.002));
}

TEST_CASE("None of ten and all of ten are mirror images, with ends at 0 and 1") {
  const Estimate none = ShareInterval(0, 0, 0.1), all = ShareInterval(1, 0, 0.1);
  CHECK(none.low == 0);
  CHECK(none.high == Approx(0.30850).margin(0.002));  // the exact end
  CHECK(all.low == Approx(1 - none.high));
  CHECK(all.high == 1);
}

TEST_CASE("A total of few samples has Garwood's interval of their count, not below zero") {
  // Four samples of 100 each: exactly 108.99 and 1024.16; one sample: 2.53 and 557.16.
  const Estimate four = TotalInterval(400, 4 * 100.0 * 100, 100);
  CHECK(four.low == Approx(108.99).margin(2));
  CHECK(four.high == Approx(1024.16).margin(2));
  const Estimate one = TotalInterval(100, 100.0 * 100, 100);
  CHECK(one.low > 1);
  CHECK(one.low < 2.53);
  CHECK(one.high == Approx(557.16).margin(2));
  const Estimate none = TotalInterval(0, 0, 100);
  CHECK(none.low == 0);
  CHECK(none.high == Approx(368.9).margin(3));
}

TEST_CASE("a total of many samples has the normal interval") {
  const Estimate many = TotalInterval(1e6, 1e6, 1);
  CHECK(many.low == Approx(1e6 - kZ * 1e3).margin(3));
  CHECK(many.high == Approx(1e6 + kZ * 1e3).margin(3));
}

TEST_CASE("A variance that is below zero by chance still gives an interval around the value") {
  for (const Estimate& of : {TotalInterval(50, -1, 0), ShareInterval(0.5, -1, 0), RatioInterval(0.5, -1, 9)}) {
    CHECK(of.low == of.value);
    CHECK(of.high == of.value);
  }
}

TEST_CASE("A ratio has Student's interval, and none with fewer than two samples") {
  const Estimate ten = RatioInterval(100, 81, 10);
  // t(9) = 2.2622; the variance is that of n, not n - 1.
  CHECK(ten.high - 100 == Approx(2.2622 * 9 * std::sqrt(10.0 / 9)).epsilon(0.005));
  CHECK(ten.low == Approx(200 - ten.high));
  CHECK(RatioInterval(1, 4, 100).low == 0);
  for (const double too_few : {0.0, 1.0, 1.9, std::nan("")}) {
    CHECK(RatioInterval(7, 0, too_few).low == 0);
    CHECK(std::isinf(RatioInterval(7, 0, too_few).high));
  }
}

}  // namespace
}  // namespace heaprec::tools
