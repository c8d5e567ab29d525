#include "recorder/writer/tracked_set.h"

#include <algorithm>
#include <utility>

#include "throttle/random.h"

namespace heaprec::writer {
namespace {

using format::LifecycleEvent;
using format::LifecycleKind;

// The second stage also draws from ids and the recording's seed; this salt makes the draws independent. The value is
// "liveobjs" in ASCII.
constexpr uint64_t kSalt = 0x6c697665'6f626a73;

constexpr uint64_t kMaxDelayNs = 60'000'000'000;

}  // namespace

uint32_t ReservoirOf(uint32_t max_tracked, uint32_t buffered) {
  const uint64_t room = std::max<uint64_t>(max_tracked / 8, 6 * uint64_t{buffered});
  return std::max<uint32_t>(1, max_tracked - static_cast<uint32_t>(std::min<uint64_t>(room, max_tracked / 2)));
}

TrackedSet::TrackedSet(uint32_t max_tracked, uint32_t buffered, uint64_t seed, Callbacks recorder,
                       format::Stream stream)
    : max_tracked_(max_tracked),
      stream_(stream),
      recorder_(std::move(recorder)),
      reservoir_(ReservoirOf(max_tracked, buffered), throttle::Mix64(seed ^ kSalt)) {}

void TrackedSet::Died(const LifecycleEvent& lifecycle, uint32_t lane, uint64_t begin) {
  if (!tracks()) return;
  const auto known = tracked_.find(lifecycle.sample);
  if (known == tracked_.end()) {
    const auto [early, is_new] = early_.try_emplace(lifecycle.sample, Early{lifecycle, lane, begin});
    if (!is_new && early->second.lifecycle.kind == LifecycleKind::kShrunk) early->second.lifecycle = lifecycle;
    return;
  }
  if (lifecycle.kind == LifecycleKind::kShrunk) return Shrink(lifecycle, &known->second);
  lifecycle_events_.push_back(lifecycle);
  lifecycle_events_.back().time_ns = std::max(lifecycle.time_ns, known->second.checkpoint_sample.sample.time_ns);
  tracked_.erase(known);
  (void)reservoir_.Remove(lifecycle.sample);
}

// Its probability does not change: the remaining part represents the same part of what the whole represented.
void TrackedSet::Shrink(const LifecycleEvent& lifecycle, Tracked* tracked) {
  const format::Sample& sample = tracked->checkpoint_sample.sample;
  if (lifecycle.left >= tracked->checkpoint_sample.left()) return;
  tracked->checkpoint_sample.gone = sample.size - lifecycle.left;
  lifecycle_events_.push_back(lifecycle);
  lifecycle_events_.back().time_ns = std::max(lifecycle.time_ns, sample.time_ns);
}

double TrackedSet::AdjustmentOf(std::span<const ClosedSample> births) {
  double all = 0, placed = 0;
  for (const ClosedSample& birth : births) {
    if (!birth.is_kept) continue;
    all += birth.sample.weight;
    if (birth.tracking_index != 0) placed += birth.sample.weight;
  }
  if (placed > 0) return (all + std::exchange(owed_, 0)) / placed;
  owed_ += all;
  return 1;
}

void TrackedSet::Close(uint64_t end_ns, std::span<const ClosedSample> births) {
  if (!tracks()) return;
  const double adjustment = AdjustmentOf(births);
  for (const ClosedSample& birth : births) {
    if (birth.is_kept) {
      Add(end_ns, birth, adjustment);
    } else if (early_.erase(birth.sample.id) == 0 && birth.tracking_index != 0) {
      recorder_.drop(birth.tracking_index, birth.sample.id);
    }
  }
  Release(end_ns);
  ForgetOldDeaths();
}

void TrackedSet::Add(uint64_t end_ns, const ClosedSample& birth, double adjustment) {
  const format::Sample& sample = birth.sample;
  if (birth.tracking_index == 0) {
    lifecycle_events_.push_back({sample.id, end_ns, LifecycleKind::kUntracked, recorder_.collections(), 0});
    return;
  }
  // The object took no part in the evictions at end_ns, so it must not be live at that time.
  const auto dead = early_.find(sample.id);
  if (dead != early_.end() && dead->second.lifecycle.kind != LifecycleKind::kShrunk) {
    lifecycle_events_.push_back(dead->second.lifecycle);
    lifecycle_events_.back().time_ns =
        std::clamp(dead->second.lifecycle.time_ns, std::min(sample.time_ns, end_ns), end_ns);
    early_.erase(dead);
    return;
  }
  Tracked& tracked = tracked_[sample.id];
  tracked = {
      {sample, 0, recorder_.collections_at_birth(birth.tracking_index, sample.id)}, birth.keys, birth.tracking_index};
  tracked.checkpoint_sample.sample.weight *= adjustment;
  reservoir_.Add(sample.id, tracked.checkpoint_sample.sample.weight);
  if (dead == early_.end()) return;
  Shrink(dead->second.lifecycle, &tracked);
  early_.erase(dead);
}

void TrackedSet::Release(uint64_t end_ns) {
  const std::vector<throttle::PriorityReservoir::Evicted> released = reservoir_.EvictExcess();
  if (released.empty()) return;
  const uint64_t collections = recorder_.collections();
  for (const auto& [id, threshold] : released) {
    const auto one = tracked_.find(id);
    recorder_.drop(one->second.tracking_index, id);
    tracked_.erase(one);
    lifecycle_events_.push_back({id, end_ns, LifecycleKind::kEvicted, collections, threshold});
  }
  const double highest = released.back().threshold;
  while (!thresholds_.empty() && thresholds_.back().value <= highest) thresholds_.pop_back();
  thresholds_.push_back({end_ns, highest});
  // The lowest id is the oldest sample, unless a thread was delayed between taking the id and the time.
  const uint64_t oldest_ns = tracked_.empty() ? end_ns : tracked_.begin()->second.checkpoint_sample.sample.time_ns;
  while (thresholds_.front().time_ns + kMaxDelayNs < std::min(oldest_ns, end_ns)) thresholds_.pop_front();
}

double TrackedSet::ThresholdSince(uint64_t birth_ns) const {
  const auto first = std::ranges::upper_bound(thresholds_, birth_ns, {}, &Threshold::time_ns);
  return first == thresholds_.end() ? 0 : first->value;
}

// The sample of such a death was dropped or evicted just before. A sample is published before its death, or a moment
// later: its interval was open then, or is the next one.
void TrackedSet::ForgetOldDeaths() {
  for (auto& [id, early] : early_) ++early.closes;
  std::erase_if(early_, [](const auto& early) { return early.second.closes > 2; });
}

std::vector<LifecycleEvent> TrackedSet::TakeLifecycleEvents() {
  std::ranges::stable_sort(lifecycle_events_, {}, &LifecycleEvent::time_ns);
  for (LifecycleEvent& lifecycle : lifecycle_events_) lifecycle.stream = stream_;
  return std::exchange(lifecycle_events_, {});
}

void TrackedSet::LowerTo(const std::vector<uint64_t>& least, std::vector<uint64_t>* floors) const {
  for (const auto& [id, early] : early_) {
    if (early.closes > 0) continue;  // its sample was almost certainly dropped
    if (early.begin < least.at(early.lane)) continue;
    uint64_t& floor = floors->at(early.lane);
    floor = std::min(floor, early.begin);
  }
}

}  // namespace heaprec::writer
