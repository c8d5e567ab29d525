#include "tools/analysis/estimate/confidence_interval.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heaprec::tools {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The upper end of an amount next to `rest`, as odds of the amount to the rest when their sum is `value` + `rest`; for
// an infinite rest, as an amount. The amount is treated as a count of its own weight, plus one unit, as in the exact
// ends of a binomial or Poisson count (Fay and Feuer 1997 for weighted counts). The quantile of F is Paulson's
// approximation (with an infinite rest Wilson and Hilferty's of gamma), within 1 % of the exact one from 1 up.
double UpperEnd(double value, double rest, double variance, double unit) {
  const bool is_total = std::isinf(rest);
  const double part = is_total ? 1 : rest / (value + rest);
  const double more = value + unit;
  const double weight = more > 0 && part > 0 ? (std::max(variance, 0.0) / part + unit * unit) / more : 0;
  if (!(weight > 0)) return is_total ? value : value / rest;
  const double a = weight / (9 * more), b = is_total ? 0 : weight / (9 * rest), one = 1 - a, other = 1 - b;
  const double denominator = other * other - kZ * kZ * b;
  if (!(denominator > 0)) return kInfinity;
  const double root = std::sqrt(a * other * other + b * one * one - kZ * kZ * a * b);
  const double cube = std::pow((one * other + kZ * root) / denominator, 3);
  return cube * (is_total ? more : more / rest);
}

// The lower end of a total: treats `value` as a count whose weight follows from its variance, without an additional
// unit.
double LowerEnd(double value, double variance) {
  if (!(value > 0) || !(variance > 0)) return value;
  const double a = variance / (9 * value * value);
  return value * std::pow(std::max(1 - a - kZ * std::sqrt(a), 0.0), 3);
}

double ShareOfOdds(double odds) { return std::isinf(odds) ? 1 : odds / (1 + odds); }

// Rounding must not move the estimate outside its interval.
Estimate Around(double value, double low, double high) {
  return {value, std::clamp(low, 0.0, value), std::max(high, value)};
}

// From here on t is treated as normal: the quantiles differ by less than 1 in 100,000.
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

constexpr int kMaxSteps = 20000;  // about sqrt(a + b) are needed
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

// P(X <= x) where the fraction converges fast: roughly for x below the mean.
double Tail(double x, double a, double b) {
  const double front = a * std::log(x) + b * std::log1p(-x) + std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b);
  return std::exp(front) * Fraction(x, a, b) / a;
}

// The arcsine of the root has the same variance everywhere.
double NormalBelow(double x, double a, double b) {
  const double angle = std::asin(std::sqrt(x)) - std::asin(std::sqrt(a / (a + b)));
  return 0.5 * std::erfc(-angle * 2 * std::sqrt(a + b) / std::sqrt(2));
}

}  // namespace

Estimate TotalInterval(double value, double variance, double unit) {
  return Around(value, LowerEnd(value, variance), UpperEnd(value, kInfinity, variance, unit));
}

Estimate ShareInterval(double value, double variance, double unit) {
  const double rest = 1 - value;
  return Around(value, 1 - ShareOfOdds(UpperEnd(rest, value, variance, unit)),
                std::min(ShareOfOdds(UpperEnd(value, rest, variance, unit)), 1.0));
}

Estimate RatioInterval(double value, double variance, double effective_samples) {
  if (!(effective_samples >= 2)) return {value, 0, kInfinity};
  // Student's quantile to the second order in 1 / freedom, within 2 % from 4 degrees of freedom on.
  const double freedom = effective_samples - 1;
  const double second = (5 * std::pow(kZ, 4) + 16 * kZ * kZ + 3) / (96 * freedom * freedom);
  const double t = kZ * (1 + (kZ * kZ + 1) / (4 * freedom) + second);
  const double half = t * std::sqrt(std::max(variance, 0.0) * (1 + 1 / freedom));
  return Around(value, value - half, value + half);
}

double MeanUnit(double sum, double variance, double typical) {
  const double all = sum + typical;
  return all > 0 ? (std::max(variance, 0.0) + typical * typical) / all : 0;
}

double Widening(double sum, double variance, double fourth) {
  if (!(variance > 0) || !(sum > 0)) return 1;
  const double excess = fourth / (variance * variance) - variance / (sum * sum);
  return 1 + (kZ * kZ + 1) / 4 * std::max(excess, 0.0);
}

Estimate Scaled(const Estimate& estimate, double factor) {
  return {estimate.value * factor, estimate.low * factor, estimate.high * factor, estimate.lost_below * factor,
          estimate.lost_above * factor};
}

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
