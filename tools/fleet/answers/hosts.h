// Statistics with hosts as the unit: what differs between versions, or before and after a time, and who is an outlier.
//
// Two versions on different hosts differ by what hosts differ anyway, which samples know nothing of. So rates of hosts
// are what is compared; their sampling errors are in their scatter.
//
// Units:    as the rates.
// Maths:    docs/estimates.md#fleet
#pragma once

#include <cstdint>
#include <vector>

#include "tools/analysis/estimate/confidence_interval.h"

namespace heaprec::tools::fleet {

struct HostComparison {
  double before = 0, after = 0;  // means over hosts
  Estimate change;               // after - before, 95 %
  double p = 1, q = 1;           // q: the least false discovery rate at which it counts as real
  double detectable = 0;         // a change of this size would be found with a probability of 80 %
  bool is_real = false;
};

// Sums of the rates of n hosts, those of 0 included, and of their squares.
struct HostSums {
  double sum = 0, squares = 0;
  size_t hosts = 0;
};

// Welch's t-test of two sets of hosts. Fewer than two hosts on a side tell nothing: p = 1.
HostComparison CompareHosts(const HostSums& before, const HostSums& after);
// The same hosts before and after: a t-test of the differences.
HostComparison ComparePaired(double before, double after, double difference_squares, size_t hosts);

// Benjamini and Hochberg: of the rows that are said to be real, on average at most `rate` are not.
void JudgeHosts(std::vector<HostComparison*> rows, double rate);

struct HostRate {
  uint32_t host = 0;
  double rate = 0, variance = 0;  // sampling error
};
struct Outlier {
  uint32_t host = 0;
  double rate = 0, median = 0, z = 0;
};
// Robust z of each host: its distance from the median over 1.4826 times the median distance and its own sampling error,
// in quadrature. `hosts`: of them, those that are not in `rates` have 0.
std::vector<Outlier> ScoreHosts(const std::vector<HostRate>& rates, size_t hosts);

}  // namespace heaprec::tools::fleet
