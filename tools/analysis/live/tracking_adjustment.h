// By how much the samples of an interval that are tracked are raised to stand for those that found no place: those of
// the same interval, and of the intervals before in which none found one.
//
// Maths:    docs/streams.md#live-objects
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "format/reader/reader.h"

namespace heaprec::tools {

class TrackingAdjustment {
 public:
  // Of one stream, with its `interval_ns`.
  explicit TrackingAdjustment(uint64_t interval_ns, format::Stream stream = format::Stream::kAllocations);

  // The next block; of those before nothing is asked any more. Intervals and their samples share one.
  void Add(const format::Block& block);
  // 1 for a sample that has no place itself.
  double Of(const format::Sample& sample) const;

 private:
  uint64_t IntervalOf(const format::Sample& sample) const { return sample.time_ns / interval_ns_; }

  const uint64_t interval_ns_;
  const format::Stream stream_;
  std::unordered_set<uint64_t> without_place_;   // samples of the block
  std::unordered_map<uint64_t, double> raises_;  // by interval; absent: 1
  double owed_ = 0;                              // weight of intervals before that nothing stands for yet
};

}  // namespace heaprec::tools
