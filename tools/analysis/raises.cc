#include "tools/analysis/raises.h"

#include <algorithm>

namespace heaprec::tools {

Raises::Raises(const format::Block& block, uint64_t interval_ns) : interval_ns_(std::max<uint64_t>(interval_ns, 1)) {
  std::unordered_set<uint64_t> without_place;
  for (const format::Fate& fate : block.fates) {
    if (fate.kind == format::FateKind::kNotFollowed) without_place.insert(fate.sample);
  }
  if (without_place.empty()) return;
  struct Sums {
    double all = 0, placed = 0;
  };
  std::unordered_map<uint64_t, Sums> intervals;
  for (const format::Sample& sample : block.samples) {
    if (sample.stream() != format::Stream::kAllocations) continue;
    Sums& sums = intervals[IntervalOf(sample)];
    sums.all += sample.weight;
    if (!without_place.contains(sample.id)) sums.placed += sample.weight;
  }
  for (const auto& [interval, sums] : intervals) {
    if (sums.placed > 0 && sums.placed < sums.all) raises_[interval] = sums.all / sums.placed;
  }
}

double Raises::Of(const format::Sample& sample) const {
  const auto found = raises_.find(IntervalOf(sample));
  return found == raises_.end() ? 1 : found->second;
}

}  // namespace heaprec::tools
