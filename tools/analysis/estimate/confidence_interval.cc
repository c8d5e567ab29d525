#include "tools/analysis/estimate/confidence_interval.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heaprec::tools {
namespace {

// Half the width of a score interval, and how far its centre lies above the estimate.
struct Score {
  double half, shift;
};

Score ScoreOf(double variance, double unit) {
  const double shift = kZ * kZ * unit / 2;
  return {std::sqrt(kZ * kZ * std::max(variance, 0.0) + shift * shift), shift};
}

// Rounding must not put the estimate outside.
Estimate Around(double value, double low, double high) {
  return {value, std::clamp(low, 0.0, value), std::max(high, value)};
}

}  // namespace

Estimate TotalInterval(double value, double variance, double unit) {
  const Score score = ScoreOf(variance, unit);
  return Around(value, value + score.shift - score.half, value + score.shift + score.half);
}

Estimate ShareInterval(double value, double variance, double unit) {
  const Score score = ScoreOf(variance, unit);
  const double scale = 1 + kZ * kZ * unit;
  Estimate share =
      Around(value, (value + score.shift - score.half) / scale, (value + score.shift + score.half) / scale);
  share.high = std::min(share.high, 1.0);
  return share;
}

Estimate RatioInterval(double value, double variance, double effective_samples) {
  if (!(effective_samples >= 2)) return {value, 0, std::numeric_limits<double>::infinity()};
  // Student's quantile to the second order in 1 / freedom, within 2 % from 4 on.
  const double freedom = effective_samples - 1;
  const double second = (5 * std::pow(kZ, 4) + 16 * kZ * kZ + 3) / (96 * freedom * freedom);
  const double t = kZ * (1 + (kZ * kZ + 1) / (4 * freedom) + second);
  const double half = t * std::sqrt(std::max(variance, 0.0) * (1 + 1 / freedom));
  return Around(value, value - half, value + half);
}

Estimate Scaled(const Estimate& estimate, double factor) {
  return {estimate.value * factor, estimate.low * factor, estimate.high * factor, estimate.lost_below * factor,
          estimate.lost_above * factor};
}

}  // namespace heaprec::tools
