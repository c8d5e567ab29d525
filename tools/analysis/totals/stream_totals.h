// Totals of one stream of a recording, computed from its blocks in one pass and bounded memory.
//
// Units:    time in ns since the start of the recording, sizes in bytes.
// Maths:    docs/sampler.md
#pragma once

#include <array>
#include <cstdint>

#include "format/model/model.h"
#include "format/reader/reader.h"

namespace heaprec::tools {

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
