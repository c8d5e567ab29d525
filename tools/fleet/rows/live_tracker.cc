#include "tools/fleet/rows/live_tracker.h"

#include "tools/analysis/imported.h"

namespace heaprec::tools::fleet {

LiveTracker::LiveTracker(const format::FileHeader& header) {
  if (header.max_tracked_objects > 0 && !IsImported(header.source)) lives_.emplace(header);
}

uint32_t LiveTracker::SubjectOf(const ClassAndSite& key) {
  const auto [at, is_new] = subjects_.try_emplace(key, static_cast<uint32_t>(keys_.size()));
  if (is_new) keys_.push_back(key);
  return at->second;
}

void LiveTracker::Add(const format::Block& block, const std::function<ClassAndSite(const format::Sample&)>& name_of) {
  if (!lives_) return;
  const auto subject_of = [&](const format::Sample& sample) {
    return sample.stream() == format::Stream::kAllocations ? SubjectOf(name_of(sample)) : Lifetimes::kLeftOut;
  };
  samples_.clear();
  for (const format::Sample& sample : block.samples) samples_.push_back(subject_of(sample));
  live_checkpoint_.clear();
  for (const format::CheckpointSample& one : block.live_checkpoint) {
    live_checkpoint_.push_back(lives_->Knows(one.sample.id) ? Lifetimes::kLeftOut : subject_of(one.sample));
  }
  lives_->Add(block, samples_, live_checkpoint_);
}

std::vector<LiveRow> LiveTracker::At(uint64_t time_ns) {
  if (!lives_) return {};
  Lifetimes lives = *lives_;
  lives.Close(time_ns);
  lives_->Forget(time_ns);
  std::map<std::pair<RowKey, LiveState>, LiveSums> sums;
  sums[{{RowGrain::kWhole, 0, 0}, LiveState::kLive}] = {};
  for (const Lifetime& life : lives.all()) {
    if (!life.IsTrackedAt(time_ns)) continue;
    const uint64_t survived = lives.SurvivedBy(life, time_ns);
    const LiveSample one{lives.WeightAt(life, time_ns), static_cast<double>(life.size),
                         static_cast<double>(time_ns - life.birth_ns) * 1e-9, static_cast<double>(survived)};
    const LiveState state = lives.is_range() && survived == 0 ? LiveState::kMayBeGarbage : LiveState::kLive;
    const auto& [class_id, site] = keys_[life.subject];
    for (const RowKey& key : {RowKey{RowGrain::kWhole, 0, 0}, RowKey{RowGrain::kClass, class_id, 0},
                              RowKey{RowGrain::kSite, 0, site}, RowKey{RowGrain::kClassAndSite, class_id, site}}) {
      sums[{key, state}].Add(one);
    }
  }
  std::vector<LiveRow> rows;
  for (auto& [key, of_key] : sums) {
    of_key.Round();
    rows.push_back({key.first, key.second, of_key});
  }
  return rows;
}

}  // namespace heaprec::tools::fleet
