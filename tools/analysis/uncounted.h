// Intervals for which nothing was counted: salvage finds the samples of a process that died, but not the counts that
// its recorder had yet to write.
#pragma once

#include "format/reader/reader.h"

namespace heaprec::tools {

// Whether the samples alone tell what was allocated in the interval.
inline bool IsUncounted(const format::Interval& interval) {
  return interval.bytes == 0 && interval.buffered > 0 && !format::CountsEvents(interval.stream);
}

// Returns the bytes that its samples represent. A salvaged block has one interval of a stream.
inline double SampledBytes(const format::Block& block, const format::Interval& interval) {
  double bytes = 0;
  for (const format::Sample& sample : block.samples) {
    if (sample.stream() == interval.stream) bytes += sample.weight_bytes();
  }
  return bytes;
}

}  // namespace heaprec::tools
