// The line of the second stage, laid again: in which order the samples of an interval lay, and how long the pieces
// usually are that a class, a method, a stack or a thread has of it.
//
// The recorder lays all points that it holds; a recording has only those that were kept. But the order of what is kept
// is known up to chance, and that is all that a variance needs.
//
// Units:    lengths in samples kept per interval.
// Threads:  one.
// Maths:    docs/estimates.md#variance
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "tools/analysis/estimate/ewma_counts.h"
#include "tools/analysis/estimate/prepared_samples.h"
#include "tools/analysis/estimate/weighted_sample.h"

namespace heaprec::tools {

// What is left of the variance of rounding at the ends of a piece that holds `samples` kept ones per interval on
// average, of `surplus` times as many held, over that of a piece with hardly any: from 1 down to 1/3 and less.
double RoundingLeft(double samples, double surplus);

class SystematicOrder {
 public:
  // What a draft leaves open, of the recording's next block: numbers its lines and sets their roundings.
  void Assign(PreparedSamples* draft);

 private:
  size_t SetRounding(std::span<WeightedSample> line, double surplus, size_t level,
                     std::span<const PreparedSamples::Node> nodes);
  static void SetSides(std::span<WeightedSample> line);

  uint64_t lines_ = 0;  // so far
  std::array<EwmaCounts, kNodes> usual_;
};

}  // namespace heaprec::tools
