// The distributions behind intervals and tests: Student's t, F, and beta.
//
// Context:  pure functions.
// Failure:  none. Parameters and degrees of freedom must be > 0; infinite ones of t give the normal distribution.
#pragma once

namespace heaprec::tools {

// P(T > t), one-sided.
double StudentAbove(double t, double degrees_of_freedom);

// The t with P(|T| > t) = probability, 0 < probability < 1.
double StudentTwoSided(double probability, double degrees_of_freedom);

// The density of F(of, against). `against` may be infinite: then it is chi-squared(of) / of.
class DensityF {
 public:
  DensityF(double of, double against);
  // Its logarithm at x > 0.
  double Log(double x) const;

 private:
  double half_, other_, constant_, ratio_;
};

// From so many counts in all the beta distribution is taken as normal.
inline constexpr double kManyCounts = 1e6;

// P(X <= x) of Beta(a, b), 0 <= x <= 1.
double BetaBelow(double x, double a, double b);

// The x of which P(X <= x) = probability.
double BetaQuantile(double probability, double a, double b);

}  // namespace heaprec::tools
