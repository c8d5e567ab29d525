// An estimate with its 95 % interval, and how intervals are made from a variance.
//
// With few samples, normal intervals are far from 95 %, because the variance is too small or too large by chance
// together with the estimate. These are the exact intervals of a count with the same variance: Garwood's of a Poisson
// count for a total, Clopper and Pearson's of a binomial count for a share.
//
// Maths:    docs/estimates.md#intervals
#pragma once

#include <cmath>
#include <limits>

namespace heaprec::tools {

// P(|N(0, 1)| > kZ) = 5 %.
inline constexpr double kZ = 1.959963984540054;

struct Estimate {
  double value = 0;
  double low = 0, high = 0;  // 95 %: low <= value <= high; high may be infinite
  // How much of value - low and high - value is due to lost points. This is not a sampling error: over several
  // recordings it adds up in full.
  double lost_below = 0, lost_above = 0;
};

// A quantity that is not in the recording: text shows "unknown", JSON null. In comparisons use its range, 0 to
// infinity.
inline constexpr Estimate kUnknownEstimate{std::numeric_limits<double>::quiet_NaN(),
                                           std::numeric_limits<double>::quiet_NaN(),
                                           std::numeric_limits<double>::quiet_NaN()};
inline bool IsUnknown(const Estimate& estimate) { return std::isnan(estimate.low); }
// Whether only the ends are known: the minimum and the maximum.
inline bool IsRange(const Estimate& estimate) { return std::isnan(estimate.value) && !IsUnknown(estimate); }
inline Estimate OrUnbounded(const Estimate& estimate) {
  return IsUnknown(estimate) ? Estimate{0, 0, std::numeric_limits<double>::infinity()} : estimate;
}

// The interval of a total. `unit`: what one sample represents, > 0 even without samples. Without samples, value and
// variance are 0, and high is 3.67 units (exact: 3.69). For n samples of equal weight, variance = n unit^2: Garwood's
// interval.
Estimate TotalInterval(double value, double variance, double unit);

// The interval of a share of a whole, 0 <= value <= 1. `unit`: the share that one sample represents. For n independent
// samples of equal weight, variance = value (1 - value) / n and unit = 1 / n: Clopper and Pearson's interval.
Estimate ShareInterval(double value, double variance, double unit);

// The interval of a ratio > 0, from `effective_samples` of equal weight: +-t sqrt(variance), cut at 0. With fewer than
// two: 0 to infinity.
Estimate RatioInterval(double value, double variance, double effective_samples);

// What one sample represents on average, for samples with this sum and variance and one typical sample more: by chance
// the few samples of a subset may all come from quiet times, when weights are small.
double MeanUnit(double sum, double variance, double typical);

// Student's t instead of z, as a factor on the variance. The variance is an estimate itself, a sum of squares with a
// relative variance of fourth / variance^2. The part of it that n equal samples have (1 / n) is already in the
// intervals.
double Widening(double sum, double variance, double fourth);

inline constexpr double kMinObject = 16;  // bytes: the smallest object of HotSpot

// Returns the estimate with each of its numbers multiplied by `factor` >= 0.
Estimate Scaled(const Estimate& estimate, double factor);

// The distributions behind intervals and tests: Student's t, F, and beta.
//
// Failure:  none. Parameters and degrees of freedom must be > 0; infinite degrees of freedom turn t into the normal
//           distribution.

// P(T > t), one-sided.
double StudentAbove(double t, double degrees_of_freedom);

// Returns the t with P(|T| > t) = probability, 0 < probability < 1.
double StudentTwoSided(double probability, double degrees_of_freedom);

// The density of F(of, against). If `against` is infinite, that of chi-squared(of) / of.
class DensityF {
 public:
  DensityF(double of, double against);
  // Its logarithm at x > 0.
  double Log(double x) const;

 private:
  double half_, other_, constant_, ratio_;
};

// From this total count on, the beta distribution is treated as normal.
inline constexpr double kManyCounts = 1e6;

// P(X <= x) of Beta(a, b), 0 <= x <= 1.
double BetaBelow(double x, double a, double b);

// Returns the x with P(X <= x) = probability.
double BetaQuantile(double probability, double a, double b);

}  // namespace heaprec::tools
