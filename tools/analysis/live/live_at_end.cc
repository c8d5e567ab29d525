#include "tools/analysis/live/live_at_end.h"

#include <algorithm>

#include "tools/analysis/imported.h"
#include "tools/analysis/live/live_sum.h"

namespace heaprec::tools {

LiveAtEnd::LiveAtEnd(const format::FileHeader& header) : is_imported_(IsImported(header.source)) {
  if (header.live_bound > 0) lives_.emplace(header);
}

void LiveAtEnd::Add(const format::Block& block) {
  if (!lives_) return;
  samples_.assign(block.samples.size(), 0);
  for (size_t i = 0; i < samples_.size(); ++i) {
    if (block.samples[i].stream() != format::Stream::kAllocations) samples_[i] = Lives::kLeftOut;
  }
  survivors_.assign(block.survivors.size(), 0);
  lives_->Add(block, samples_, survivors_);
}

std::optional<AliveInAll> LiveAtEnd::Close(uint64_t end_ns) {
  if (!lives_) return std::nullopt;
  lives_->Close(end_ns);
  std::vector<Alive> alive;
  LiveTotal total;
  double heaviest = 0;
  for (const Life& life : lives_->all()) {
    heaviest = std::max(heaviest, life.weight);
    if (!life.IsFollowedAt(lives_->end_ns())) continue;
    alive.push_back({lives_->WeightAt(life, lives_->end_ns()), static_cast<double>(life.size), 0,
                     static_cast<double>(life.Survived())});
    total.Add(alive.back());
  }
  const double unit = total.bytes > 0 ? total.Unit() : heaviest;
  const LiveFigures figures = lives_->is_range() ? RangeOf(alive, total, unit).figures : FiguresOf(alive, total, unit);
  return AliveInAll{figures.samples, is_imported_ ? 0 : lives_->not_followed(), figures.bytes, figures.objects};
}

}  // namespace heaprec::tools
