// Student's t distribution, and the density of F: how far means of a few runs may lie apart.
//
// Context:  pure functions.
// Failure:  none. Degrees of freedom must be > 0; infinite ones give the normal distribution.
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

}  // namespace heaprec::tools
