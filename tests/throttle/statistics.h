// One bound for all statistical tests of the sampling core.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace heaprec::testing {

// |z| of a normal statistic beyond 6 has a chance of 2e-9: with all comparisons of a test (at most 500) below 1e-6.
inline constexpr double kBound = 6.0;

// z of `hits` successes in n independent trials of probability p.
inline double BinomialZ(double hits, double n, double p) { return (hits - n * p) / std::sqrt(n * p * (1 - p)); }

// How many of these nanoseconds fall into the fullest second, wherever it begins.
inline size_t MostInAnySecond(std::vector<uint64_t> times) {
  std::sort(times.begin(), times.end());
  size_t most = 0;
  for (size_t first = 0, last = 0; last < times.size(); ++last) {
    while (times[last] - times[first] >= 1'000'000'000) ++first;
    most = std::max(most, last - first + 1);
  }
  return most;
}

}  // namespace heaprec::testing
