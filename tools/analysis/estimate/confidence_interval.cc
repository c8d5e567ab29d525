#include "tools/analysis/estimate/confidence_interval.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heaprec::tools {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The upper end of an amount beside `rest`, relative to their sum being `value` + `rest`, as odds of it to the rest;
// for an infinite rest, as an amount. The amount is taken as a count of its own weight, with one more unit, as the
// exact ends of a binomial or Poisson count have one (Fay and Feuer 1997 for weighted counts). The quantile of F is
// Paulson's approximation (with an infinite rest Wilson and Hilferty's of gamma), within 1 % of the exact one from 1
// up.
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

// The lower end of a total: as if `value` had the weight that its variance says, with no more than that.
double LowerEnd(double value, double variance) {
  if (!(value > 0) || !(variance > 0)) return value;
  const double a = variance / (9 * value * value);
  return value * std::pow(std::max(1 - a - kZ * std::sqrt(a), 0.0), 3);
}

double ShareOfOdds(double odds) { return std::isinf(odds) ? 1 : odds / (1 + odds); }

// Rounding must not put the estimate outside.
Estimate Around(double value, double low, double high) {
  return {value, std::clamp(low, 0.0, value), std::max(high, value)};
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
  // Student's quantile to the second order in 1 / freedom, within 2 % from 4 on.
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

}  // namespace heaprec::tools
