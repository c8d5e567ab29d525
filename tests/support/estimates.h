// What weighted samples say about the truth, and how far off they may be.
//
// Maths:    Total: Var = sum w (w - size), the Horvitz-Thompson estimate for independent points; VarOpt's negative
//           covariances only make it smaller. Share: Wilson's interval with the effective count (sum w)^2 / sum w^2.
//           kSigmas = 5.2: a true share or total is refused with probability 2e-7.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/recording_rows.h"

namespace heaprec::testing {

inline constexpr double kSigmas = 5.2;

struct Total {
  double bytes = 0, sigma = 0;
  size_t samples = 0;
  bool Holds(double truth) const { return std::abs(bytes - truth) <= kSigmas * sigma; }
};

inline Total TotalOf(const std::vector<Row>& rows) {
  Total total;
  double variance = 0;
  for (const Row& row : rows) {
    const double weight = row.weight_bytes;
    total.bytes += weight;
    variance += weight * (weight - static_cast<double>(row.size));
  }
  total.samples = rows.size();
  total.sigma = std::sqrt(variance);
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

}  // namespace heaprec::testing
