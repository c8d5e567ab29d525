#include "tools/analysis/estimate/distributions.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

constexpr int kMaxSteps = 20000;  // some sqrt(a + b) are needed
constexpr double kTiny = 1e-300;

// The continued fraction of the incomplete beta function by Lentz's method (DLMF 8.17.22).
double Fraction(double x, double a, double b) {
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double product = d;
  for (int m = 1; m < kMaxSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double step = 1;
    for (const double term : {even, odd}) {
      d = 1 + term * d;
      c = 1 + term / c;
      d = 1 / (std::abs(d) < kTiny ? kTiny : d);
      if (std::abs(c) < kTiny) c = kTiny;
      step = c * d;
      product *= step;
    }
    if (std::abs(step - 1) < 1e-13) break;
  }
  return product;
}

// P(X <= x) where the fraction converges fast: x below the mean, or so.
double Tail(double x, double a, double b) {
  const double front = a * std::log(x) + b * std::log1p(-x) + std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b);
  return std::exp(front) * Fraction(x, a, b) / a;
}

// The arcsine of the root makes its variance the same everywhere.
double NormalBelow(double x, double a, double b) {
  const double angle = std::asin(std::sqrt(x)) - std::asin(std::sqrt(a / (a + b)));
  return 0.5 * std::erfc(-angle * 2 * std::sqrt(a + b) / std::sqrt(2));
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

double BetaBelow(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (a + b > kManyCounts) return NormalBelow(x, a, b);
  return x < (a + 1) / (a + b + 2) ? Tail(x, a, b) : 1 - Tail(1 - x, b, a);
}

double BetaQuantile(double probability, double a, double b) {
  if (probability > 0.5) return 1 - BetaQuantile(1 - probability, b, a);
  double low = 0, high = 1;
  while (high - low > 1e-12 * high && high > std::numeric_limits<double>::min()) {
    const double middle = (low + high) / 2;
    (BetaBelow(middle, a, b) < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace heaprec::tools
