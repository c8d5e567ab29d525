#include "recorder/agent/options/rates.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

namespace heaprec::agent {

TEST_CASE("The intervals of a second together never exceed the rate, and are whole ticks") {
  for (const double rate : {1.0, 1.5, 14.0, 149.0, 150.0, 7'999.0, 8'001.0, 123'457.0, 200'000.0}) {
    const throttle::ControllerConfig config = ControllerFor(rate, false);
    INFO(rate);
    // A second touches at most one interval more than it has room for only if intervals do not divide it.
    const double intervals = 1e9 / static_cast<double>(config.interval_ns);
    CHECK(intervals * config.cap <= rate);
    CHECK(config.cap >= 1);
    CHECK(config.interval_ns % 64 == 0);
  }
}

TEST_CASE("Below one sample per second an interval lasts 1/rate and keeps one sample") {
  const throttle::ControllerConfig config = ControllerFor(0.1, false);
  CHECK(config.cap == 1);
  CHECK(config.interval_ns == 10'000'000'000u);
}

TEST_CASE("Stage 1 exceeds a small cap by enough that an interval is rarely short of it") {
  // A Poisson variable of mean 3.45 is 0 in 3 % of the cases; of mean 1.2 it is in 30 %. Many samples need less,
  // and cost more.
  CHECK(ControllerFor(0.1, false).oversampling > 3);
  CHECK(ControllerFor(150, false).oversampling < 5);
  CHECK(ControllerFor(8'000, false).oversampling == Approx(1.2));
}

TEST_CASE("All threads together update their clocks 4,000 times a second, or as often as there are points") {
  throttle::ControllerConfig config = ControllerFor(150, false);
  const auto touches = [&] {
    const double points = std::max(config.oversampling * config.cap, config.points);
    return points / -std::expm1(-MaxGapOf(config));
  };
  CHECK(touches() == Approx(4000));
  config.points = 3000;
  CHECK(touches() == Approx(4000));
  config.points = 4000;
  CHECK(touches() < 1.02 * 4000);
  config.points = 100'000;
  CHECK(touches() < 1.02 * 100'000);
}

}  // namespace heaprec::agent
