// One bound for all statistical tests of the sampling core.
#pragma once

#include <cmath>

namespace heaprec::testing {

// |z| of a normal statistic beyond 6 has a chance of 2e-9: with all comparisons of a test (at most 500) below 1e-6.
inline constexpr double kBound = 6.0;

// z of `hits` successes in n independent trials of probability p.
inline double BinomialZ(double hits, double n, double p) { return (hits - n * p) / std::sqrt(n * p * (1 - p)); }

}  // namespace heaprec::testing
