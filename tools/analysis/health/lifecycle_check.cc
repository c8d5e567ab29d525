#include "tools/analysis/health/lifecycle_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heaprec::tools {

using format::LifecycleKind;

void LifecycleCheck::Look(const format::Block& block, bool is_gap, const Find& find) {
  const bool begins_chunk = !any_block_ || block.chunk != chunk_;
  // A recording whose front was left out says at its first chunk who is alive.
  if (!any_block_) knows_all_ = true;
  const format::StreamCounters& now = block.counters[stream_];
  constexpr auto kFailed = static_cast<size_t>(format::LossReason::kWriteFailed);
  // With a block that could not be written its lifecycle events are lost too.
  if (is_gap || now.lost[kFailed] != before_.lost[kFailed]) knows_all_ = false;
  any_block_ = true;
  chunk_ = block.chunk;
  const auto is_of_stream = [this](const format::LifecycleEvent& lifecycle) { return lifecycle.stream == stream_; };
  if (!tracks_) {
    if (std::ranges::any_of(block.lifecycle_events, is_of_stream) || HasCheckpoint(block))
      find("lifecycle events, although nothing is tracked");
    return;
  }
  if (HasCheckpoint(block) && !begins_chunk) find("live checkpoint after the first block of a chunk");
  CheckCheckpoint(block, find);
  for (const format::Sample& sample : block.samples) {
    if (sample.stream() == stream_) alive_.insert(sample.id);
  }
  uint64_t untracked = 0, last_ns = 0;
  for (const format::LifecycleEvent& lifecycle : block.lifecycle_events) {
    if (lifecycle.stream != stream_) continue;
    if (lifecycle.time_ns < last_ns)
      find(fmt::format("lifecycle event of sample {}: earlier than the previous one", lifecycle.sample));
    last_ns = lifecycle.time_ns;
    if (lifecycle.kind == LifecycleKind::kUntracked) ++untracked;
    CheckLifecycleEvent(lifecycle, find);
  }
  if (!is_gap && now.untracked - before_.untracked != untracked) {
    find(fmt::format("recorder counters say {} samples not tracked, but the block has {}",
                     now.untracked - before_.untracked, untracked));
  }
  before_ = now;
}

bool LifecycleCheck::HasCheckpoint(const format::Block& block) const {
  return std::ranges::any_of(block.live_checkpoint, [this](const auto& one) { return one.sample.stream() == stream_; });
}

void LifecycleCheck::CheckCheckpoint(const format::Block& block, const Find& find) {
  if (!HasCheckpoint(block)) return;
  std::unordered_set<uint64_t> now;
  for (const format::CheckpointSample& checkpoint_sample : block.live_checkpoint) {
    if (checkpoint_sample.sample.stream() != stream_) continue;
    const uint64_t id = checkpoint_sample.sample.id;
    if (!now.insert(id).second) find(fmt::format("live checkpoint: sample {} appears twice", id));
    if (!std::isfinite(checkpoint_sample.threshold) || checkpoint_sample.threshold < 0) {
      find(fmt::format("live checkpoint: sample {} has an invalid threshold", id));
    }
  }
  if (knows_all_ && !alive_.empty() && now != alive_) find("live checkpoint: its samples are not the live ones");
  alive_ = std::move(now);
  knows_all_ = true;
}

void LifecycleCheck::CheckLifecycleEvent(const format::LifecycleEvent& lifecycle, const Find& find) {
  const bool shrinks = lifecycle.kind == LifecycleKind::kShrunk;
  const bool is_known = shrinks ? alive_.contains(lifecycle.sample) : alive_.erase(lifecycle.sample) > 0;
  if (shrinks && lifecycle.left == 0)
    find(fmt::format("lifecycle event of sample {}: shrank to 0 bytes", lifecycle.sample));
  if (!is_known && knows_all_) {
    find(fmt::format("lifecycle event of sample {}: not tracked, or already ended", lifecycle.sample));
  }
  const bool has_threshold = std::isfinite(lifecycle.threshold) && lifecycle.threshold > 0;
  if (has_threshold != (lifecycle.kind == LifecycleKind::kEvicted)) {
    find(fmt::format("lifecycle event of sample {}: invalid threshold", lifecycle.sample));
  }
}

}  // namespace heaprec::tools
