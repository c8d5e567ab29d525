#include "tools/analysis/live/tracking_adjustment.h"

#include <algorithm>
#include <map>
#include <utility>

namespace heaprec::tools {

TrackingAdjustment::TrackingAdjustment(uint64_t interval_ns, format::Stream stream)
    : interval_ns_(std::max<uint64_t>(interval_ns, 1)), stream_(stream) {}

void TrackingAdjustment::Add(const format::Block& block) {
  raises_.clear();
  without_place_.clear();
  for (const format::LifecycleEvent& lifecycle : block.lifecycle_events) {
    if (lifecycle.stream == stream_ && lifecycle.kind == format::LifecycleKind::kUntracked)
      without_place_.insert(lifecycle.sample);
  }
  if (without_place_.empty() && owed_ == 0) return;
  struct Sums {
    double all = 0, placed = 0;
  };
  std::map<uint64_t, Sums> intervals;
  for (const format::Sample& sample : block.samples) {
    if (sample.stream() != stream_) continue;
    Sums& sums = intervals[IntervalOf(sample)];
    sums.all += sample.weight;
    if (!without_place_.contains(sample.id)) sums.placed += sample.weight;
  }
  for (const auto& [interval, sums] : intervals) {
    if (sums.placed > 0) {
      raises_[interval] = (sums.all + std::exchange(owed_, 0)) / sums.placed;
    } else {
      owed_ += sums.all;
    }
  }
}

double TrackingAdjustment::Of(const format::Sample& sample) const {
  if (without_place_.contains(sample.id)) return 1;
  const auto found = raises_.find(IntervalOf(sample));
  return found == raises_.end() ? 1 : found->second;
}

}  // namespace heaprec::tools
