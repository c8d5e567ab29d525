#include "recorder/writer/tracked_set.h"

#include <algorithm>
#include <utility>

#include "throttle/random.h"

namespace heaprec::writer {
namespace {

using format::Fate;
using format::FateKind;

// The second stage draws by ids and the recording's seed too: these draws have nothing to do with those.
constexpr uint64_t kSalt = 0x6c697665'6f626a73;  // "liveobjs"

constexpr uint64_t kHeldUpNs = 60'000'000'000;

}  // namespace

uint32_t ReservoirOf(uint32_t bound, uint32_t held) {
  const uint64_t room = std::max<uint64_t>(bound / 8, 6 * uint64_t{held});
  return std::max<uint32_t>(1, bound - static_cast<uint32_t>(std::min<uint64_t>(room, bound / 2)));
}

LiveSet::LiveSet(uint32_t bound, uint32_t held, uint64_t seed, Recorder recorder, format::Stream stream)
    : bound_(bound),
      stream_(stream),
      recorder_(std::move(recorder)),
      reservoir_(ReservoirOf(bound, held), throttle::Mix64(seed ^ kSalt)) {}

void LiveSet::Died(const Fate& fate, uint32_t lane, uint64_t begin) {
  if (!follows()) return;
  const auto known = followed_.find(fate.sample);
  if (known == followed_.end()) {
    const auto [early, is_new] = early_.try_emplace(fate.sample, Early{fate, lane, begin});
    if (!is_new && early->second.fate.kind == FateKind::kShrunk) early->second.fate = fate;
    return;
  }
  if (fate.kind == FateKind::kShrunk) return Shrink(fate, &known->second);
  fates_.push_back(fate);
  fates_.back().time_ns = std::max(fate.time_ns, known->second.survivor.sample.time_ns);
  followed_.erase(known);
  (void)reservoir_.Remove(fate.sample);
}

// How it is drawn stays as it was: what is left of it stands for a part of what the whole did.
void LiveSet::Shrink(const Fate& fate, Followed* followed) {
  const format::Sample& sample = followed->survivor.sample;
  if (fate.left >= followed->survivor.left()) return;
  followed->survivor.gone = sample.size - fate.left;
  fates_.push_back(fate);
  fates_.back().time_ns = std::max(fate.time_ns, sample.time_ns);
}

double LiveSet::RaiseOf(std::span<const Birth> births) {
  double all = 0, placed = 0;
  for (const Birth& birth : births) {
    if (!birth.is_kept) continue;
    all += birth.sample.weight;
    if (birth.place != 0) placed += birth.sample.weight;
  }
  if (placed > 0) return (all + std::exchange(owed_, 0)) / placed;
  owed_ += all;
  return 1;
}

void LiveSet::Close(uint64_t end_ns, std::span<const Birth> births) {
  if (!follows()) return;
  const double raise = RaiseOf(births);
  for (const Birth& birth : births) {
    if (birth.is_kept) {
      ComeIn(end_ns, birth, raise);
    } else if (early_.erase(birth.sample.id) == 0 && birth.place != 0) {
      recorder_.drop(birth.place, birth.sample.id);
    }
  }
  Release(end_ns);
  ForgetOldDeaths();
}

void LiveSet::ComeIn(uint64_t end_ns, const Birth& birth, double raise) {
  const format::Sample& sample = birth.sample;
  if (birth.place == 0) {
    fates_.push_back({sample.id, end_ns, FateKind::kNotFollowed, recorder_.collections(), 0});
    return;
  }
  // It never took part in what is released at end_ns, so it must not be there at that time.
  const auto dead = early_.find(sample.id);
  if (dead != early_.end() && dead->second.fate.kind != FateKind::kShrunk) {
    fates_.push_back(dead->second.fate);
    fates_.back().time_ns = std::clamp(dead->second.fate.time_ns, std::min(sample.time_ns, end_ns), end_ns);
    early_.erase(dead);
    return;
  }
  Followed& followed = followed_[sample.id];
  followed = {{sample, 0, recorder_.collections_at_birth(birth.place, sample.id)}, birth.keys, birth.place};
  followed.survivor.sample.weight *= raise;
  reservoir_.Add(sample.id, followed.survivor.sample.weight);
  if (dead == early_.end()) return;
  Shrink(dead->second.fate, &followed);
  early_.erase(dead);
}

void LiveSet::Release(uint64_t end_ns) {
  const std::vector<throttle::Reservoir::Released> released = reservoir_.Shrink();
  if (released.empty()) return;
  const uint64_t collections = recorder_.collections();
  for (const auto& [id, threshold] : released) {
    const auto one = followed_.find(id);
    recorder_.drop(one->second.place, id);
    followed_.erase(one);
    fates_.push_back({id, end_ns, FateKind::kReleased, collections, threshold});
  }
  const double highest = released.back().threshold;
  while (!thresholds_.empty() && thresholds_.back().value <= highest) thresholds_.pop_back();
  thresholds_.push_back({end_ns, highest});
  // The lowest id is the oldest, but for threads that were held up between the one and the other.
  const uint64_t oldest_ns = followed_.empty() ? end_ns : followed_.begin()->second.survivor.sample.time_ns;
  while (thresholds_.front().time_ns + kHeldUpNs < std::min(oldest_ns, end_ns)) thresholds_.pop_front();
}

double LiveSet::ThresholdSince(uint64_t birth_ns) const {
  const auto first = std::ranges::upper_bound(thresholds_, birth_ns, {}, &Threshold::time_ns);
  return first == thresholds_.end() ? 0 : first->value;
}

// What died was dropped, or released, just before. A sample is published before its death, or a moment after it: its
// interval is the one that was open then, or the next.
void LiveSet::ForgetOldDeaths() {
  for (auto& [id, early] : early_) ++early.closes;
  std::erase_if(early_, [](const auto& early) { return early.second.closes > 2; });
}

std::vector<Fate> LiveSet::TakeFates() {
  std::ranges::stable_sort(fates_, {}, &Fate::time_ns);
  for (Fate& fate : fates_) fate.stream = stream_;
  return std::exchange(fates_, {});
}

void LiveSet::LowerTo(std::vector<uint64_t>* floors) const {
  for (const auto& [id, early] : early_) {
    if (early.closes > 0) continue;  // of a sample that was dropped, all but surely
    uint64_t& floor = floors->at(early.lane);
    floor = std::min(floor, early.begin);
  }
}

}  // namespace heaprec::writer
