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
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/analysis/estimate/prepared_samples.h"
#include "tools/analysis/estimate/weighted_sample.h"

namespace heaprec::tools {

// How many samples a node usually has in an interval: the mean over the intervals before, the latest counting most.
//
// A node that was not seen for some time is forgotten: it counts as rare.
//
// Units:    samples per interval.
// Threads:  one.
// Maths:    docs/estimates.md#variance
class EwmaCounts {
 public:
  // What was usual before this interval, in which the node has so many samples: they are then counted.
  double Note(uint64_t node, size_t samples);
  // The node will be noted soon.
  void MarkEmitted(uint64_t node) const {
    if (!entries_.empty()) __builtin_prefetch(&entries_[node & (entries_.size() - 1)], 1);
  }
  void EndInterval();

 private:
  // Decaying; a table with open addressing, for most nodes are seen once and looked up once an interval.
  struct Entry {
    uint64_t node = 0;  // 0: free
    uint64_t last = 0;  // intervals_ when `sum` was brought up to date
    double sum = 0;
  };
  Entry* Find(uint64_t node);
  bool IsKnown(const Entry& entry, uint64_t horizon) const;
  void Rebuild();

  uint64_t intervals_ = 0;  // so far
  size_t taken_ = 0;
  std::vector<Entry> entries_;  // a power of two
};

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
