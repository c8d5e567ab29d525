// The weight of a sample, recomputed from its window: recordings do not store it per sample.
//
// Units:    weights in bytes or events, sizes in bytes; lambda in sample points per byte, or a probability (kCount).
// Maths:    docs/format/recording.md#weights, docs/sampler.md#weights
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace heaprec::format {

enum class WeightRule : uint8_t {
  kPerByte = 0,   // size / (1 - exp(-lambda size))
  kCount = 1,     // 1 / lambda: in events
  kExplicit = 2,  // stored as it is
};
inline constexpr int kWeightRules = 3;

// Largest accepted relative difference between a stored and a recomputed weight.
inline constexpr double kWeightTolerance = 1e-9;

// pi = 1 - exp(-x). Below the limit the series' remainder, x^4 / 120, is less than 1e-14: four terms cost a tenth
// of expm1.
inline double PoissonInclusion(double x) {
  constexpr double kSeriesLimit = 1e-3;
  if (x < kSeriesLimit) return x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4)));
  return -std::expm1(-x);
}

inline double FirstStageWeight(WeightRule rule, double lambda, uint64_t size) {
  if (rule == WeightRule::kCount) return 1 / lambda;
  return static_cast<double>(size) / PoissonInclusion(lambda * static_cast<double>(size));
}

// A NaN never agrees.
inline bool WeightsAgree(double given, double recomputed) {
  return std::abs(recomputed - given) <= kWeightTolerance * std::abs(given);
}

}  // namespace heaprec::format
