// Totals of streams, of allocations and of exceptions, computed from the blocks of a recording in one pass.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/row_calibration.h"
#include "tools/analysis/estimate/weighted_sample.h"
#include "tools/input/dictionary_names.h"

namespace heaprec::tools {

// Compares counted bytes with sampled ones.
struct CountCheck {
  Estimate raw_bytes;  // from the samples alone
  // In intervals with counted bytes: the count, and the bytes that samples and losses represent. By chance they differ
  // by at most `slack`: five standard deviations plus an allowance for few samples. In the first seconds points may
  // have been so far apart that none of these bytes had one.
  double counted = 0, accounted = 0, slack = 0;
};

// Call after the last block, with a design without strata. `counters`: those of the last block.
CountCheck CheckCounts(const Design& design, const format::StreamCounters& counters);

struct AllocationTotals : CountCheck {
  struct KindSums {
    Estimate bytes, objects, share;
  };
  bool calibrated = false;
  double factor = 1;  // already applied, except to raw_bytes
  Estimate bytes, objects;
  std::array<KindSums, format::kAllocationKinds.size()> kinds;
};

// Total allocations, and those by kind, computed from the blocks of a recording in one pass.
//
// Maths:    docs/estimates.md#estimates
class VolumeOfBlocks {
 public:
  // `strata`: a census for estimates of parts; the total itself comes from the samples and the recorder's counts.
  // `by_rows`: the blocks for which parts, and all objects, are estimated from rows.
  explicit VolumeOfBlocks(const format::FileHeader& header, const Strata& strata = {}, ByRows by_rows = {});
  bool takes_rows(const format::Block& block) const { return by_rows_ && by_rows_(block); }
  // Adds a block. Returns the samples, or rows, of the design for parts: valid until the next call.
  std::span<const WeightedSample> Add(const format::Block& block);
  // `counters`: those of the last block.
  AllocationTotals Close(const format::StreamCounters& counters);
  // The design with which parts are estimated.
  const Design& design() const { return parts_ ? *parts_ : design_; }

 private:
  const ByRows by_rows_;
  const bool has_strata_;
  Design design_;
  std::optional<Design> parts_;  // nullopt: equals design_
  std::array<Subset, format::kAllocationKinds.size()> kinds_;
};

// Totals of thrown exceptions: the exact count, and estimates by class and by site.
//
// Units:    events.
// Maths:    docs/streams.md#exceptions
struct ExceptionTotals {
  struct Group {
    std::string name;
    uint64_t samples = 0;
    Estimate events, share;
  };
  uint64_t counted = 0;
  uint64_t samples = 0;
  bool calibrated = false;
  double factor = 1;   // already applied to the groups
  Estimate estimated;  // total, from the samples alone
  // Ordered by size. A site is the frame that threw: "Class.method:line".
  std::vector<Group> classes, sites;
};

// Computes the totals in one pass over the blocks of a recording.
class ExceptionTotalsBuilder {
 public:
  using Keeps = std::function<bool(const format::Sample&)>;

  // `keeps`: whether a sample is included in the groups; empty: all are.
  explicit ExceptionTotalsBuilder(const format::FileHeader& header, Keeps keeps = {})
      : design_(header, format::Stream::kExceptions), keeps_(std::move(keeps)) {}
  // Call after `names` has entered the block.
  void Add(const format::Block& block, Names* names);
  // `counters`: those of the stream in the last block.
  ExceptionTotals Close(const format::StreamCounters& counters);

 private:
  using Groups = std::unordered_map<std::string, Subset>;
  Design design_;
  const Keeps keeps_;
  Groups classes_, sites_;
};

// Totals of one stream of a recording, computed from its blocks in one pass and bounded memory.
//
// Units:    time in ns since the start of the recording, sizes in bytes.
// Maths:    docs/sampler.md

struct KindTotals {
  uint64_t events = 0;
  double bytes = 0, objects = 0;  // sums of the weights: unbiased estimates; events are in objects
};

class StreamTotals {
 public:
  explicit StreamTotals(uint64_t interval_ns, format::Stream stream = format::Stream::kAllocations)
      : stream_(stream), interval_ns_(interval_ns > 0 ? interval_ns : 1'000'000'000) {}
  // Ignores data of other streams. `by_rows`: uses rows instead of samples, all of one kind.
  void Add(const format::Block& block, bool by_rows = false);

  std::array<KindTotals, format::kKinds> kinds;
  uint64_t windows = 0;            // a chunk repeats windows of earlier chunks that it needs; each is counted once
  uint64_t intervals = 0;          // closed by the drain, or reconstructed by salvage
  uint64_t intervals_thinned = 0;  // of these, those reduced by the second stage
  uint64_t most_in_interval = 0;   // counted from the samples, if they are read
  uint64_t last_ns = 0;            // time of the last event, or of the last block of any stream

  uint64_t events() const;
  double bytes() const;
  double objects() const;

 private:
  void Count(const format::Sample& sample);
  void CountRows(const format::Block& block);
  void CountWindows(const format::Block& block);

  const format::Stream stream_;
  const uint64_t interval_ns_;
  uint64_t interval_ = 0, in_interval_ = 0;
  uint32_t chunk_ = 0;
  uint32_t last_window_ = 0, last_of_earlier_chunks_ = 0;  // ids, ascending from 1
};

// Initial totals of a recording with this header.
format::PerStream<StreamTotals> TotalsOfStreams(const format::FileHeader& header);

// Intervals without counts: salvage finds the samples of a dead process, but not the counts that its recorder had not
// written yet.

// Whether only samples show what was allocated in the interval.
inline bool IsUncounted(const format::Interval& interval) {
  return interval.bytes == 0 && interval.buffered > 0 && !format::CountsEvents(interval.stream);
}

// Returns the bytes that its samples represent. A salvaged block has one interval per stream.
inline double SampledBytes(const format::Block& block, const format::Interval& interval) {
  double bytes = 0;
  for (const format::Sample& sample : block.samples) {
    if (sample.stream() == interval.stream) bytes += sample.weight_bytes();
  }
  return bytes;
}

}  // namespace heaprec::tools
