// The sampling design of a recording: turns its samples into what the estimators need, block by block.
//
// Units:    as format/model.h.
// Threads:  one.
// Failure:  none: a sample whose window is unknown counts as drawn in one stage, which gives wider intervals.
// Maths:    docs/sampler.md#variance
#pragma once

#include <cstdint>
#include <unordered_map>

#include "format/model.h"
#include "format/reader.h"
#include "tools/analysis/drawn.h"
#include "tools/analysis/subset.h"

namespace heaprec::tools {

class Design {
 public:
  explicit Design(const format::FileHeader& header);

  // The next block, whole, before any of its samples is asked for: also those that the caller filters out.
  void Add(const format::Block& block);
  // Of a sample of the last block.
  Drawn Of(const format::Sample& sample) const;

  // All samples so far.
  const Subset& all() const { return all_; }
  // Bytes counted by the recorder in the intervals so far, and the samples of those for which it did not: salvage finds
  // samples, but not what was counted beside them.
  uint64_t counted_bytes() const { return counted_; }
  const Subset& uncounted() const { return uncounted_; }

 private:
  struct Reduced {
    double sum = 0, squares = 0;  // of weight * raised over the interval's samples
    bool counted = true;
  };
  void CountBytes(const format::Interval& interval);
  Drawn Bare(const format::Sample& sample) const;

  const uint64_t interval_ns_;
  const bool by_event_;                            // source tlab: lambda is a probability per event
  uint32_t chunk_ = format::kNone;                 // windows are those of this chunk: each chunk has all it needs
  std::unordered_map<uint32_t, double> windows_;   // lambda by id
  std::unordered_map<uint64_t, Reduced> reduced_;  // intervals of the last block
  Subset all_, uncounted_;
  uint64_t counted_ = 0;
};

}  // namespace heaprec::tools
