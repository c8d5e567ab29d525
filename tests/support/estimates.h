// What weighted samples say about the truth, and how far off they may be.
//
// Maths:    Total: Bernstein's bound for a sum of independent terms of at most the largest weight, with the variance
//           truth x (mean weight of a byte), as Poisson points have it; VarOpt's negative covariances only make it
//           smaller. A true total is refused with probability < 2 exp(-z^2 / 2) = 6e-7, however few the samples.
//           Share: Wilson's interval with the effective count (sum w)^2 / sum w^2: refused with 4e-8.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/support/recording_rows.h"

namespace heaprec::testing {

inline constexpr double kSigmas = 5.5;

struct Total {
  double bytes = 0;
  double mean_weight = 0;  // of a byte: sum w^2 / sum w
  double largest_weight = 0;
  size_t samples = 0;

  double Slack(double truth) const {
    return kSigmas * std::sqrt(truth * mean_weight) + kSigmas * kSigmas / 3 * largest_weight;
  }
  bool Holds(double truth) const { return samples > 0 && std::abs(bytes - truth) <= Slack(truth); }
};

inline Total TotalOf(const std::vector<Row>& rows) {
  Total total;
  double squares = 0;
  for (const Row& row : rows) {
    total.bytes += row.weight_bytes;
    squares += row.weight_bytes * row.weight_bytes;
    total.largest_weight = std::max(total.largest_weight, row.weight_bytes);
  }
  total.samples = rows.size();
  if (total.bytes > 0) total.mean_weight = squares / total.bytes;
  return total;
}

struct Share {
  double value = 0, low = 0, high = 1, effective_count = 0;
  bool Holds(double truth) const { return low <= truth && truth <= high; }
};

// The share of the bytes of `rows` for which `of` is true.
inline Share ShareOf(const std::vector<Row>& rows, const std::function<bool(const Row&)>& of) {
  double all = 0;
  double squares = 0;
  double part = 0;
  for (const Row& row : rows) {
    all += row.weight_bytes;
    squares += row.weight_bytes * row.weight_bytes;
    if (of(row)) part += row.weight_bytes;
  }
  Share share;
  if (all <= 0) return share;
  const double n = all * all / squares;
  const double p = part / all;
  const double z2 = kSigmas * kSigmas;
  const double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half = kSigmas / (1 + z2 / n) * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  return {p, middle - half, middle + half, n};
}

// Fails unless the share of each size may be that of `truth`; `least_count`: of samples that count fully.
inline void RequireShares(const std::vector<Row>& rows, const std::map<uint64_t, double>& truth, double least_count) {
  for (const auto& [size, share] : truth) {
    const Share estimate = ShareOf(rows, [size = size](const Row& row) { return row.size == size; });
    INFO("size " << size << ": " << estimate.value << ", truth " << share << ", interval " << estimate.low << " to "
                 << estimate.high << ", effective n " << estimate.effective_count);
    CHECK(estimate.Holds(share));
    CHECK(estimate.effective_count > least_count);
  }
}

}  // namespace heaprec::testing
