#include "tools/analysis/live/live_at_end.h"

#include <algorithm>

#include "tools/analysis/imported.h"
#include "tools/analysis/live/live_sum.h"

namespace heaprec::tools {

LiveAtEnd::LiveAtEnd(const format::FileHeader& header) : is_imported_(IsImported(header.source)) {
  if (header.max_tracked_objects > 0) lives_.emplace(header);
}

void LiveAtEnd::Add(const format::Block& block) {
  if (!lives_) return;
  samples_.assign(block.samples.size(), 0);
  for (size_t i = 0; i < samples_.size(); ++i) {
    if (block.samples[i].stream() != format::Stream::kAllocations) samples_[i] = Lifetimes::kLeftOut;
  }
  live_checkpoint_.assign(block.live_checkpoint.size(), 0);
  lives_->Add(block, samples_, live_checkpoint_);
}

std::optional<LiveAtEndTotals> LiveAtEnd::Close(uint64_t end_ns) {
  if (!lives_) return std::nullopt;
  lives_->Close(end_ns);
  std::vector<LiveSample> alive;
  LiveTotal total;
  double heaviest = 0;
  for (const Lifetime& life : lives_->all()) {
    heaviest = std::max(heaviest, life.weight);
    if (!life.IsTrackedAt(lives_->end_ns())) continue;
    alive.push_back({lives_->WeightAt(life, lives_->end_ns()), static_cast<double>(life.size), 0,
                     static_cast<double>(life.Survived())});
    total.Add(alive.back());
  }
  const double unit = total.bytes > 0 ? total.Unit() : heaviest;
  const LiveEstimates estimates =
      lives_->is_range() ? RangeOf(alive, total, unit).estimates : EstimateGroup(alive, total, unit);
  return LiveAtEndTotals{estimates.samples, is_imported_ ? 0 : lives_->untracked(), estimates.bytes, estimates.objects};
}

}  // namespace heaprec::tools
