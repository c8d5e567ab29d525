#include "tools/fleet/answers/hosts.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

namespace heaprec::tools::fleet {
namespace {

HostSums SumsOf(const std::vector<double>& rates) {
  HostSums sums;
  sums.hosts = rates.size();
  for (const double rate : rates) sums.sum += rate, sums.squares += rate * rate;
  return sums;
}

}  // namespace

TEST_CASE("Welch's test gives the values of a textbook") {
  // R: t.test(c(1,2,3,4,5), c(3,5,7,9,11)): t = -2.5298, df = 5.8824, p = 0.04567
  const HostComparison of = CompareHosts(SumsOf({1, 2, 3, 4, 5}), SumsOf({3, 5, 7, 9, 11}));
  CHECK(of.before == Approx(3));
  CHECK(of.after == Approx(7));
  CHECK(of.p == Approx(0.0457).margin(0.0005));
  CHECK(of.change.low == Approx(0.113).margin(0.01));
  CHECK(of.change.high == Approx(7.887).margin(0.01));
  CHECK(of.detectable > of.change.high - of.change.value);
}

TEST_CASE("Fewer than two hosts give no result, and hosts without scatter differ for certain") {
  CHECK(CompareHosts(SumsOf({1}), SumsOf({5, 6})).p == 1);
  CHECK(CompareHosts(SumsOf({1, 1}), SumsOf({1, 1})).p == 1);
  CHECK(CompareHosts(SumsOf({1, 1}), SumsOf({2, 2})).p == 0);
  CHECK(ComparePaired(1, 2, 1, 1).p == 1);
}

TEST_CASE("Paired hosts detect more than unpaired ones") {
  // Differences 1, 1.2, 0.8, 1: mean 1, standard error 0.0816; t = 12.2 with 3 degrees of freedom, p = 0.0012.
  const HostComparison of = ComparePaired(100, 104, 1 + 1.44 + 0.64 + 1, 4);
  CHECK(of.change.value == Approx(1));
  CHECK(of.p == Approx(0.0012).margin(0.0002));
}

TEST_CASE("Without a difference 5 % of the p-values are below 0.05") {
  // 2,000 seeded comparisons: 3.5 to 6.5 % but for 2 in 1,000 seeds.
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(10, 1);
  int below = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> one(8), other(12);
    for (double& rate : one) rate = normal(random);
    for (double& rate : other) rate = normal(random);
    if (CompareHosts(SumsOf(one), SumsOf(other)).p < 0.05) ++below;
  }
  CHECK(below > 70);
  CHECK(below < 130);
}

TEST_CASE("Benjamini and Hochberg's procedure judges all rows together") {
  std::vector<HostComparison> rows(4);
  rows[0].p = 0.01, rows[1].p = 0.02, rows[2].p = 0.03, rows[3].p = 0.5;
  JudgeHosts({&rows[0], &rows[1], &rows[2], &rows[3]}, 0.05);
  CHECK(rows[0].is_real);
  CHECK(rows[2].is_real);
  CHECK(rows[2].q == Approx(0.04));
  CHECK_FALSE(rows[3].is_real);
}

TEST_CASE("An outlier is far from the median, relative to the scatter of hosts and its own error") {
  std::vector<HostRate> rates;
  for (uint32_t host = 0; host < 9; ++host) rates.push_back({host, 10 + 0.1 * host, 0});
  rates.push_back({9, 20, 0});
  const std::vector<Outlier> scored = ScoreHosts(rates, rates.size());
  CHECK(scored[9].z > 20);
  CHECK(std::abs(scored[4].z) < 1);
  rates[9].variance = 100;
  CHECK(ScoreHosts(rates, rates.size())[9].z < 1.1);
}

}  // namespace heaprec::tools::fleet
