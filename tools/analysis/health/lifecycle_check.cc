#include "tools/analysis/health/lifecycle_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heaprec::tools {

using format::FateKind;

void FateCheck::Look(const format::Block& block, bool is_gap, const Find& find) {
  const bool begins_chunk = !any_block_ || block.chunk != chunk_;
  // A recording whose front was left out says at its first chunk who is alive.
  if (!any_block_) knows_all_ = true;
  const format::Books& now = block.books[stream_];
  constexpr auto kFailed = static_cast<size_t>(format::Loss::kWriteFailed);
  // With a block that could not be written its fates are lost too.
  if (is_gap || now.lost[kFailed] != before_.lost[kFailed]) knows_all_ = false;
  any_block_ = true;
  chunk_ = block.chunk;
  const auto is_of_stream = [this](const format::Fate& fate) { return fate.stream == stream_; };
  if (!follows_) {
    if (std::ranges::any_of(block.fates, is_of_stream) || HasSurvivors(block))
      find("lifecycle events, although nothing is tracked");
    return;
  }
  if (HasSurvivors(block) && !begins_chunk) find("live checkpoint after the first block of a chunk");
  LookAtSurvivors(block, find);
  for (const format::Sample& sample : block.samples) {
    if (sample.stream() == stream_) alive_.insert(sample.id);
  }
  uint64_t not_followed = 0, last_ns = 0;
  for (const format::Fate& fate : block.fates) {
    if (fate.stream != stream_) continue;
    if (fate.time_ns < last_ns)
      find(fmt::format("lifecycle event of sample {}: earlier than the previous one", fate.sample));
    last_ns = fate.time_ns;
    if (fate.kind == FateKind::kNotFollowed) ++not_followed;
    LookAtFate(fate, find);
  }
  if (!is_gap && now.not_followed - before_.not_followed != not_followed) {
    find(fmt::format("recorder counters say {} samples not tracked, but the block has {}",
                     now.not_followed - before_.not_followed, not_followed));
  }
  before_ = now;
}

bool FateCheck::HasSurvivors(const format::Block& block) const {
  return std::ranges::any_of(block.survivors, [this](const auto& one) { return one.sample.stream() == stream_; });
}

void FateCheck::LookAtSurvivors(const format::Block& block, const Find& find) {
  if (!HasSurvivors(block)) return;
  std::unordered_set<uint64_t> now;
  for (const format::Survivor& survivor : block.survivors) {
    if (survivor.sample.stream() != stream_) continue;
    const uint64_t id = survivor.sample.id;
    if (!now.insert(id).second) find(fmt::format("live checkpoint: sample {} appears twice", id));
    if (!std::isfinite(survivor.threshold) || survivor.threshold < 0) {
      find(fmt::format("live checkpoint: sample {} has an invalid threshold", id));
    }
  }
  if (knows_all_ && !alive_.empty() && now != alive_) find("live checkpoint: its samples are not the live ones");
  alive_ = std::move(now);
  knows_all_ = true;
}

void FateCheck::LookAtFate(const format::Fate& fate, const Find& find) {
  const bool shrinks = fate.kind == FateKind::kShrunk;
  const bool is_known = shrinks ? alive_.contains(fate.sample) : alive_.erase(fate.sample) > 0;
  if (shrinks && fate.left == 0) find(fmt::format("lifecycle event of sample {}: shrank to 0 bytes", fate.sample));
  if (!is_known && knows_all_) {
    find(fmt::format("lifecycle event of sample {}: not tracked, or already ended", fate.sample));
  }
  const bool has_threshold = std::isfinite(fate.threshold) && fate.threshold > 0;
  if (has_threshold != (fate.kind == FateKind::kReleased)) {
    find(fmt::format("lifecycle event of sample {}: invalid threshold", fate.sample));
  }
}

}  // namespace heaprec::tools
