#include "tools/analysis/live/lifetimes.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace heaprec::tools {

using format::LifecycleEvent;
using format::LifecycleKind;

namespace {

// Minimum time from the end of a check to the start of the next one.
constexpr uint64_t kBetweenChecksNs = 100'000'000;
// Maximum time from a death found by a check to the end of that check.
constexpr uint64_t kOfCheckNs = 50'000'000;
// Maximum time from a collection to the discovery of its deaths, unless very many objects are tracked.
constexpr uint64_t kFoundWithinNs = 250'000'000;
// the recorder continued, or its last check is not in the file
constexpr std::array<std::string_view, 4> kWithoutLastCheck{format::kEndRotated, format::kEndDump, format::kEndTrim,
                                                            format::kEndRecovered};

}  // namespace

// Only objects wait for a check. An import contains what its recorder knew at the end; generational ZGC's clock counts
// a collection when its dead objects are known.
ReferenceChecks::ReferenceChecks(const format::FileHeader& header, format::Stream stream)
    : interval_ns_(header.CapOf(stream).interval_ns),
      to_the_end_(stream != format::Stream::kAllocations || IsImported(header.source) ||
                  header.Has(format::SourceFact::kKeepsYoungReferents)) {}

// As in CollectionClock, the time of an interval's end does not show when a death was found.
void ReferenceChecks::AddDeath(uint64_t found_ns) {
  if (found_ns <= last_death_ns_ || (interval_ns_ > 0 && found_ns % interval_ns_ == 0)) return;
  if (begun_ns_ == 0 || found_ns >= last_death_ns_ + kBetweenChecksNs) before_ns_ = std::exchange(begun_ns_, found_ns);
  last_death_ns_ = found_ns;
}

void ReferenceChecks::AddEnding(const format::EndMarker& ending) {
  to_the_end_ |= std::ranges::find(kWithoutLastCheck, ending.reason) == kWithoutLastCheck.end();
}

// The last check may be incomplete at the end of the file.
uint64_t ReferenceChecks::DeathsKnownUntil(uint64_t end_ns) const {
  if (to_the_end_) return kToTheEnd;
  return end_ns >= last_death_ns_ + kOfCheckNs ? begun_ns_ : before_ns_;
}

void Lifetimes::Add(const format::Block& block, std::span<const uint32_t> samples,
                    std::span<const uint32_t> live_checkpoint) {
  AddCheckpoint(block, live_checkpoint);
  raises_.Add(block);
  for (size_t i = 0; i < block.samples.size(); ++i) {
    const format::Sample& sample = block.samples[i];
    NoteBirth(sample);
    if (sample.stream() != stream_ || samples[i] == kLeftOut) continue;
    Born(sample, sample.weight_bytes() * raises_.Of(sample), samples[i], sample.time_ns);
  }
  for (const LifecycleEvent& lifecycle : block.lifecycle_events) {
    if (lifecycle.stream == stream_) End(lifecycle);
  }
  for (const format::ProcessState& state : block.states) clock_.Add(state);
  if (block.ending) checks_.AddEnding(*block.ending);
  last_block_ns_ = std::max(last_block_ns_, block.end_ns);
}

// A chunk lists all live objects at its beginning, unless its first block is lost.
void Lifetimes::AddCheckpoint(const format::Block& block, std::span<const uint32_t> subjects) {
  if (block.live_checkpoint.empty()) return;
  std::unordered_set<uint64_t> listed;
  for (size_t i = 0; i < block.live_checkpoint.size(); ++i) {
    const format::CheckpointSample& checkpoint_sample = block.live_checkpoint[i];
    if (checkpoint_sample.sample.stream() != stream_) continue;
    listed.insert(checkpoint_sample.sample.id);
    NoteBirth(checkpoint_sample.sample);
    if (!Knows(checkpoint_sample.sample.id)) {
      if (subjects[i] == kLeftOut) continue;
      Born(checkpoint_sample.sample, checkpoint_sample.sample.weight_bytes(), subjects[i], last_block_ns_);
      if (!is_imported_) all_.back().gcs_at_birth = checkpoint_sample.collections;
    }
    Lifetime& life = all_[tracked_.at(checkpoint_sample.sample.id)];
    if (life.size > checkpoint_sample.left()) {  // the event for it is lost, or was before this file
      life.share *= static_cast<double>(checkpoint_sample.left()) / static_cast<double>(life.size);
      life.size = checkpoint_sample.left();
    }
    life.threshold = checkpoint_sample.threshold;
    life.threshold_from_ns = last_block_ns_;
  }
  for (auto known = tracked_.begin(); known != tracked_.end();) {
    Lifetime& life = all_[known->second];
    const bool is_lost = !listed.contains(known->first);
    if (is_lost) life.end = LifetimeEnd::kUnknown, life.end_ns = last_block_ns_;
    known = is_lost ? tracked_.erase(known) : std::next(known);
  }
}

void Lifetimes::NoteBirth(const format::Sample& sample) {
  if (is_range() && sample.stream() == stream_) births_.emplace(sample.id, sample.time_ns);
}

void Lifetimes::Born(const format::Sample& sample, double weight, uint32_t subject, uint64_t from_ns) {
  if (!tracked_.emplace(sample.id, all_.size()).second) return;
  Lifetime life;
  life.birth_ns = sample.time_ns;
  life.from_ns = std::max(from_ns, sample.time_ns);
  life.size = sample.size;
  life.weight = weight;
  life.subject = subject;
  life.gcs_at_birth = kNoStoredCount;
  all_.push_back(life);
}

void Lifetimes::End(const LifecycleEvent& lifecycle) {
  // Applies also to samples that are left out, because all compete for entries.
  if (lifecycle.kind == LifecycleKind::kEvicted) thresholds_.Add(lifecycle.time_ns, lifecycle.threshold);
  if (lifecycle.kind == LifecycleKind::kUntracked) ++untracked_;
  if (lifecycle.kind == LifecycleKind::kDied) checks_.AddDeath(lifecycle.time_ns);
  const auto birth = births_.find(lifecycle.sample);
  if (birth != births_.end()) {
    if (lifecycle.kind == LifecycleKind::kDied) clock_.AddDeath(birth->second, lifecycle.time_ns);
    births_.erase(birth);
  }
  const auto found = tracked_.find(lifecycle.sample);
  if (found == tracked_.end()) return;
  if (lifecycle.kind == LifecycleKind::kShrunk) return Shrink(lifecycle, found->second);
  Lifetime& life = all_[found->second];
  life.end = lifecycle.kind == LifecycleKind::kDied ? LifetimeEnd::kDied : LifetimeEnd::kEvicted;
  life.end_ns = std::max(lifecycle.time_ns, life.from_ns);
  life.ended_in = lifecycle.collections;
  if (lifecycle.kind == LifecycleKind::kUntracked) {
    life.end_ns = life.from_ns;
    untracked_bytes_ += life.weight;
  }
  tracked_.erase(found);
}

void Lifetimes::Shrink(const LifecycleEvent& lifecycle, size_t index) {
  Lifetime& rest = all_[index];
  if (lifecycle.left >= rest.size) return;
  Lifetime gone = rest;
  const double left = static_cast<double>(lifecycle.left) / static_cast<double>(rest.size);
  gone.size -= lifecycle.left;
  gone.share *= 1 - left;
  gone.end = LifetimeEnd::kDied;
  gone.end_ns = std::max(lifecycle.time_ns, gone.from_ns);
  rest.size = lifecycle.left;
  rest.share *= left;
  all_.push_back(gone);
}

// Applies the thresholds until then to the weights of the samples that are still tracked.
void Lifetimes::Forget(uint64_t time_ns) {
  EvictionThresholds known = thresholds_;
  known.Close();
  thresholds_.Forget(time_ns);
  std::vector<size_t> moved_to(all_.size());
  size_t left = 0;
  for (size_t i = 0; i < all_.size(); ++i) {
    moved_to[i] = left;
    if (all_[i].end != LifetimeEnd::kAlive && all_[i].end_ns <= time_ns) continue;
    all_[i].weight = std::max(all_[i].weight, known.Highest(all_[i].birth_ns + 1, time_ns));
    all_[left++] = all_[i];
  }
  all_.resize(left);
  for (auto& [sample, index] : tracked_) index = moved_to[index];
}

void Lifetimes::Close(uint64_t end_ns) {
  checked_ns_ = checks_.DeathsKnownUntil(last_block_ns_);
  last_block_ns_ = end_ns;
  thresholds_.Close();
  clock_.Close();
  births_.clear();
  for (Lifetime& life : all_) {
    if (life.end == LifetimeEnd::kAlive) life.end_ns = std::max(end_ns, life.from_ns);
    // The recorder counts minor collections, too.
    const bool is_stored = life.gcs_at_birth != kNoStoredCount && !is_range();
    life.gcs_at_birth =
        is_stored ? clock_.FromStoredCount(life.gcs_at_birth) : clock_.CollectionsBegunBy(life.birth_ns);
    if (life.end != LifetimeEnd::kDied) {
      life.ended_in = clock_.CollectionsEndedBy(std::min(life.end_ns, checked_ns_));
      is_unchecked_ |= checked_ns_ == 0 && clock_.CollectionsEndedBy(life.end_ns) > life.gcs_at_birth;
    } else if (is_range()) {
      life.ended_in = life.end_ns > 0 ? clock_.CollectionsEndedBy(life.end_ns - 1) : 0;
    } else {
      life.ended_in = clock_.FromStoredCount(life.ended_in);
    }
  }
}

double Lifetimes::WeightAt(const Lifetime& life, uint64_t time_ns) const {
  double weight = std::max(life.weight, thresholds_.Highest(life.birth_ns + 1, time_ns));
  if (time_ns >= life.threshold_from_ns) weight = std::max(weight, life.threshold);
  return life.share * weight;
}

uint64_t Lifetimes::SurvivedBy(const Lifetime& life, uint64_t time_ns) const {
  const bool is_dead = life.end == LifetimeEnd::kDied;
  const uint64_t ended = clock_.CollectionsEndedBy(is_dead ? time_ns : std::min(time_ns, checked_ns_));
  const uint64_t survived = ended - std::min(ended, life.gcs_at_birth);
  return is_dead ? std::min(survived, life.Survived()) : survived;
}

bool Lifetimes::IsLiveAt(const Lifetime& life, uint64_t time_ns, uint64_t collections) const {
  return life.IsTrackedAt(time_ns) &&
         (stream_ != format::Stream::kAllocations || SurvivedBy(life, time_ns) >= collections);
}

uint64_t Lifetimes::SurvivedOldBy(const Lifetime& life, uint64_t time_ns) const {
  const bool is_dead = life.end == LifetimeEnd::kDied;
  const uint64_t known_to = is_dead ? life.end_ns - std::min(life.end_ns, kFoundWithinNs) : checked_ns_;
  const uint64_t ended = clock_.OldCollectionsBy(std::min(time_ns, known_to));
  return ended - std::min(ended, clock_.OldCollectionsBy(life.birth_ns));
}

void EvictionThresholds::Close() {
  std::stable_sort(releases_.begin(), releases_.end(),
                   [](const auto& one, const auto& other) { return one.first < other.first; });
  const size_t count = releases_.size();
  highest_.assign(2 * count, 0);
  for (size_t i = 0; i < count; ++i) highest_[count + i] = releases_[i].second;
  for (size_t i = count; i-- > 1;) highest_[i] = std::max(highest_[2 * i], highest_[2 * i + 1]);
}

double EvictionThresholds::Highest(uint64_t from_ns, uint64_t to_ns) const {
  const auto begins = [](const auto& release, uint64_t time_ns) { return release.first < time_ns; };
  const auto ends = [](uint64_t time_ns, const auto& release) { return time_ns < release.first; };
  const auto first = std::lower_bound(releases_.begin(), releases_.end(), from_ns, begins);
  const auto last = std::upper_bound(first, releases_.end(), to_ns, ends);
  double highest = 0;
  auto low = static_cast<size_t>(first - releases_.begin()) + releases_.size();
  auto high = static_cast<size_t>(last - releases_.begin()) + releases_.size();
  for (; low < high; low /= 2, high /= 2) {
    if (low % 2 == 1) highest = std::max(highest, highest_[low++]);
    if (high % 2 == 1) highest = std::max(highest, highest_[--high]);
  }
  return highest;
}

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
