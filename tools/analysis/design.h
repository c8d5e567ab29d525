// The sampling design of one stream of a recording: turns its samples into what the estimators need, block by block.
//
// Units:    as format/model.h. Of a stream of events, "bytes" are events here and in what is built on this.
// Threads:  one.
// Failure:  none: a sample whose window is unknown counts as drawn in one stage, which gives wider intervals.
// Maths:    docs/sampler.md#variance
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "format/model.h"
#include "format/reader.h"
#include "tools/analysis/drawn.h"
#include "tools/analysis/line.h"
#include "tools/analysis/subset.h"

namespace heaprec::tools {

class Design {
 public:
  // `finest`: of the grains by which subsets of it are chosen. Coarser is faster.
  explicit Design(const format::FileHeader& header, format::Stream stream = format::Stream::kAllocations,
                  Grain finest = Grain::kThread);

  // The next block, whole, also what the caller filters out. Its samples that are of the stream, in the order in which
  // subsets take them; valid until the next block.
  std::span<const Drawn> Add(const format::Block& block);

  // All samples so far.
  const Subset& all() const { return all_; }
  // Bytes, or events, counted by the recorder in the intervals so far, and the samples of those for which it did not:
  // salvage finds samples, but not what was counted beside them.
  uint64_t counted_bytes() const { return counted_; }
  const Subset& uncounted() const { return uncounted_; }
  // Variance of all().bytes(). samples=N rounds what each interval may keep, so the second stage has a part in it: also
  // by intervals of which nothing was kept.
  double VarianceOfBytes() const;
  // After the last block: so much was counted in all, whatever the intervals say of it.
  void SetCounted(uint64_t total) {
    counted_ = total;
    uncounted_ = Subset();
  }

 private:
  void Count(const format::Interval& interval);
  void NoteQuota(const format::Interval& interval);
  Drawn Of(const format::Sample& sample);
  uint64_t IntervalOf(uint64_t time_ns);
  // 0: not known.
  double LambdaOf(uint32_t window);
  double FirstWeight(double size, double lambda) const;

  const format::Stream stream_;
  const uint64_t interval_ns_;
  // Nobody knows with which chance an object was drawn: of source tlab lambda is a probability per refill.
  const bool has_no_chances_;
  uint32_t chunk_ = format::kNone;                // windows are those of this chunk: each chunk has all it needs
  std::unordered_map<uint32_t, double> windows_;  // lambda by id
  // What was asked for last: samples that follow each other are mostly of one.
  uint32_t window_ = 0;
  double lambda_ = 0;
  uint64_t interval_ = 0, interval_begin_ns_ = 0;
  const bool has_quotas_;                     // samples=N
  std::unordered_set<uint64_t> not_counted_;  // intervals of the last block
  std::unordered_set<uint64_t> few_;          // likewise: those that could keep but a few by their quota
  std::vector<Drawn> drawn_;
  Line line_;
  Subset all_, uncounted_;
  uint64_t counted_ = 0;
  double variance_of_quotas_ = 0;
};

}  // namespace heaprec::tools
