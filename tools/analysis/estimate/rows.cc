#include "tools/analysis/estimate/rows.h"

#include <algorithm>

namespace heaprec::tools {

std::optional<TimeOfRows> TimeOf(const format::Block& block, uint64_t interval_ns) {
  uint64_t first = UINT64_MAX, last = 0;
  for (const format::Interval& interval : block.intervals) {
    if (interval.stream != format::Stream::kAllocations) continue;
    first = std::min(first, interval.index);
    last = std::max(last, interval.index);
  }
  if (block.rows.empty() || first > last || interval_ns == 0) return std::nullopt;
  return TimeOfRows{first * interval_ns, (last + 1) * interval_ns};
}

std::vector<format::Sample> SamplesOfRows(const format::Block& block, uint64_t interval_ns) {
  const TimeOfRows time = TimeOf(block, interval_ns).value_or(TimeOfRows{});
  format::Sample sample;
  sample.time_ns = time.begin_ns + (time.end_ns - time.begin_ns) / 2;
  std::vector<format::Sample> samples(block.rows.size(), sample);
  for (size_t i = 0; i < samples.size(); ++i) {
    const format::Row& row = block.rows[i];
    samples[i].class_id = row.class_id;
    samples[i].stack = row.stack;
    samples[i].weight = row.bytes;
  }
  return samples;
}

}  // namespace heaprec::tools
