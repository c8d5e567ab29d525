// Statistics with hosts as the unit: differences between versions, or before and after a time, and outliers.
//
// Two versions on different hosts also differ because hosts differ, which samples do not show. So the rates of hosts
// are compared; their variation includes sampling errors.
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
  double p = 1, q = 1;           // q: the lowest false discovery rate at which it is significant
  double detectable = 0;         // the change that would be found with a probability of 80 %
  bool is_real = false;
};

// Sums of the rates of n hosts, including those with rate 0, and of their squares.
struct HostSums {
  double sum = 0, squares = 0;
  size_t hosts = 0;
};

// Welch's t-test of two sets of hosts. With fewer than two hosts on a side p = 1.
HostComparison CompareHosts(const HostSums& before, const HostSums& after);
// The same hosts before and after: a t-test of the differences.
HostComparison ComparePaired(double before, double after, double difference_squares, size_t hosts);

// Benjamini and Hochberg's procedure: of the rows reported as real, on average at most `rate` are not.
void JudgeHosts(std::vector<HostComparison*> rows, double rate);

struct HostRate {
  uint32_t host = 0;
  double rate = 0, variance = 0;  // sampling error
};
struct Outlier {
  uint32_t host = 0;
  double rate = 0, median = 0, z = 0;
};
// Robust z of each host: its distance from the median, divided by the root of the sum of squares of 1.4826 times the
// median distance and its own sampling error. `hosts`: total number; those missing in `rates` have rate 0.
std::vector<Outlier> ScoreHosts(const std::vector<HostRate>& rates, size_t hosts);

}  // namespace heaprec::tools::fleet
