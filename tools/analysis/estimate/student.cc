#include "tools/analysis/estimate/student.h"

#include <cmath>
#include <limits>

#include "tools/analysis/estimate/beta.h"

namespace heaprec::tools {
namespace {

// Beyond it t is taken as normal: the quantiles differ by less than 1 in 100,000.
constexpr double kNormalFrom = 2e5;

double NormalAbove(double t) { return 0.5 * std::erfc(t / std::sqrt(2.0)); }

double NormalTwoSided(double probability) {
  double low = 0, high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (2 * NormalAbove(middle) > probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

double StudentAbove(double t, double degrees_of_freedom) {
  if (!(degrees_of_freedom < kNormalFrom)) return NormalAbove(t);
  const double n = degrees_of_freedom;
  const double beyond = BetaBelow(n / (n + t * t), n / 2, 0.5) / 2;  // P(T > |t|)
  return t >= 0 ? beyond : 1 - beyond;
}

double StudentTwoSided(double probability, double degrees_of_freedom) {
  if (!(degrees_of_freedom < kNormalFrom)) return NormalTwoSided(probability);
  const double x = BetaQuantile(probability, degrees_of_freedom / 2, 0.5);
  return x > 0 ? std::sqrt(degrees_of_freedom * (1 - x) / x) : std::numeric_limits<double>::infinity();
}

DensityF::DensityF(double of, double against) : half_(of / 2), other_(against / 2), constant_(0), ratio_(of / against) {
  if (std::isinf(against)) {
    constant_ = half_ * std::log(half_) - std::lgamma(half_);
  } else {
    constant_ = half_ * std::log(ratio_) + std::lgamma(half_ + other_) - std::lgamma(half_) - std::lgamma(other_);
  }
}

double DensityF::Log(double x) const {
  const double rest = std::isinf(other_) ? half_ * x : (half_ + other_) * std::log1p(ratio_ * x);
  return constant_ + (half_ - 1) * std::log(x) - rest;
}

}  // namespace heaprec::tools
