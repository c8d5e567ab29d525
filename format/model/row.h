// What the points of one class and path have in common: counts and sums over all of them, kept as samples or not.
//
// A row is of the allocations of one row interval: all points of the intervals in its blocks, including light ones. The
// estimate of a class, a site or a package is a sum of rows. The sums use first-stage weights: a point of an object of
// s bytes has the weight w = s / pi, where pi is the probability of a point in it. What the second stage does with the
// point does not matter.
//
// Units:    bytes.
// Maths:    docs/sampler.md#rows   Format: docs/format/recording.md#rows
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/model/names.h"

namespace heaprec::format {

struct Row {
  Index class_id = kNone;
  // The path: the frames from the leaf up to and including the site, as an entry of the chunk's stacks. kNone: no
  // stack.
  Index stack = kNone;
  uint64_t points = 0;
  uint64_t seen = 0;   // sum of s: bytes of the objects that have the points
  double bytes = 0;    // sum of w: unbiased
  double objects = 0;  // sum of w / s: unbiased
  // Sums of w (w - s), (w / s) (w / s - 1) and (w / s) (w - s): unbiased estimates of the variances of bytes and
  // objects, and of their covariance.
  double bytes_variance = 0, objects_variance = 0, covariance = 0;
  // Sums of the squares of the variances' terms, from which the uncertainty of the variances follows.
  double bytes_fourth = 0, objects_fourth = 0;

  // Adds a point of an object of `size` > 0 bytes with `weight` >= size.
  void Add(uint64_t size, double weight);
  // Adds a row of the same class and path.
  Row& operator+=(const Row& other);
  bool operator==(const Row&) const = default;
};

// The rows of a row interval are in its last block. Rows of an open interval are in the ring (format/ring/row_pages.h).
struct RowInterval {
  uint32_t first = 0;  // sequence number of its first block; all its blocks are in one chunk
  bool is_last = false;

  bool operator==(const RowInterval&) const = default;
};

inline void Row::Add(uint64_t size, double weight) {
  const auto s = static_cast<double>(size);
  const double o = weight / s, beyond = weight - s;
  ++points;
  seen += size;
  bytes += weight;
  objects += o;
  bytes_variance += weight * beyond;
  objects_variance += o * (o - 1);
  covariance += o * beyond;
  bytes_fourth += weight * beyond * weight * beyond;
  objects_fourth += o * (o - 1) * o * (o - 1);
}

inline Row& Row::operator+=(const Row& other) {
  points += other.points;
  seen += other.seen;
  bytes += other.bytes;
  objects += other.objects;
  bytes_variance += other.bytes_variance;
  objects_variance += other.objects_variance;
  covariance += other.covariance;
  bytes_fourth += other.bytes_fourth;
  objects_fourth += other.objects_fourth;
  return *this;
}

}  // namespace heaprec::format
