#include "throttle/interval_reducer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "throttle/random.h"

namespace heaprec::throttle {
namespace {

// Under an even load, half an interval has a standard deviation of sqrt(cap / 4) samples, and a sliding interval has
// two halves. If the limit exceeds the cap by this many sqrt(cap) (5 standard deviations), it drops nothing. Above a
// cap of 144 that is less than the 0.3 x cap that are allowed anyway.
constexpr double kScatter = 3.6;

void SortByIndex(std::vector<KeptPoint>* kept) {
  std::sort(kept->begin(), kept->end(), [](const KeptPoint& a, const KeptPoint& b) { return a.index < b.index; });
}

// Different from all seeds of intervals, which are Mix64(recording ^ index) with small indices.
constexpr uint64_t kSalt = 0x5a3b1e5c0ffee5edu;

// Returns tau, which solves sum min(1, w / tau) = cap; 0 if all may be kept. Approaches it from above in a few steps:
// weights above the current tau are certain, and the others share the rest of cap.
double TauFor(std::span<const double> weights, size_t cap) {
  if (weights.size() <= cap) return 0;
  if (cap == 0) return std::numeric_limits<double>::infinity();
  for (double tau = 0;;) {
    double rest = 0;
    size_t certain = 0;
    for (const double w : weights) {
      if (tau > 0 && w >= tau) {
        ++certain;
      } else {
        rest += w;
      }
    }
    // Rounding may make one point too many certain.
    const double next = certain < cap ? rest / static_cast<double>(cap - certain) : tau;
    if (!(tau == 0 || next < tau * (1 - 1e-12))) return tau;
    tau = next;
  }
}

using Slots = std::vector<std::vector<double>>;  // weights, by slot

// Whether one tau for all slots from `from` on keeps every prefix within its room. Nearly always it does, so this is
// tried first.
bool OneIsEnough(const Slots& slots, size_t from, double tau, size_t used, std::span<const size_t> room) {
  double expected = static_cast<double>(used);
  for (size_t j = from; j < slots.size(); ++j) {
    for (const double w : slots[j]) expected += std::min(1.0, w / tau);
    if (expected > static_cast<double>(room[j]) * (1 + 1e-9)) return false;
  }
  return true;
}

// The prefix that needs the highest tau gets it, which also satisfies all shorter prefixes.
SlotGroup Tightest(const Slots& slots, size_t from, size_t used, std::span<const size_t> room) {
  const auto cap = [&](size_t j) { return room[j] - std::min(used, room[j]); };
  std::vector<double> weights;
  for (size_t j = from; j < slots.size(); ++j) weights.insert(weights.end(), slots[j].begin(), slots[j].end());
  const size_t last = slots.size() - 1;
  const double tau = TauFor(weights, cap(last));
  if (OneIsEnough(slots, from, tau, used, room)) return {last + 1, std::min(cap(last), weights.size())};
  SlotGroup tightest;
  double highest = -1;
  weights.clear();
  for (size_t j = from; j < slots.size(); ++j) {
    weights.insert(weights.end(), slots[j].begin(), slots[j].end());
    const double needed = TauFor(weights, cap(j));
    if (needed < highest) continue;
    highest = needed;
    tightest = {j + 1, std::min(cap(j), weights.size())};
  }
  return tightest;
}

}  // namespace

size_t SlidingCap(size_t cap) {
  const auto slack =
      static_cast<size_t>(std::max(0.3 * static_cast<double>(cap), kScatter * std::sqrt(static_cast<double>(cap))));
  return cap + std::min(cap, slack);
}

uint64_t ReductionSeed(uint64_t recording, uint64_t interval) { return Mix64(recording ^ interval); }

IntervalReducer::IntervalReducer(const ReducerConfig& bounds) : bounds_(bounds), sliding_cap_(SlidingCap(bounds.cap)) {
  if (bounds.max_samples == 0) return;
  const uint64_t intervals = (bounds.duration_ns + bounds.interval_ns - 1) / bounds.interval_ns;
  budget_.emplace(bounds.max_samples, bounds.cap, intervals, bounds.recording);
}

IntervalReduction IntervalReducer::Reduce(uint64_t interval, std::span<const BufferedPoint> points) {
  MoveTo(interval);
  const uint64_t seed = ReductionSeed(bounds_.recording, interval);
  const std::optional<SampleQuota> quota = budget_ ? std::optional(budget_->Next()) : std::nullopt;
  IntervalReduction result = quota && quota->length < static_cast<double>(bounds_.cap)
                                 ? ReduceWhole(points, *quota, seed)
                                 : ReduceGroups(interval, points, seed);
  if (!points.empty()) NoteIntervalsWithPoints(1);
  BoundPrefixes(interval, points, seed, &result.kept);
  for (const KeptPoint& point : result.kept) ++counts_[SlotOf(interval, points[point.index].time_ns)];
  return result;
}

IntervalReduction IntervalReducer::ReduceWhole(std::span<const BufferedPoint> points, const SampleQuota& quota,
                                               uint64_t seed) {
  const Reduction reduction = ReduceToQuota(points, quota, seed);
  IntervalReduction result;
  result.tau = reduction.tau;
  result.kept.reserve(reduction.kept.size());
  for (const size_t i : reduction.kept) result.kept.push_back({i, reduction.WeightOf(points[i].weight)});
  return result;
}

IntervalReduction IntervalReducer::ReduceGroups(uint64_t interval, std::span<const BufferedPoint> points,
                                                uint64_t seed) const {
  std::vector<SlotWeight> weights;
  weights.reserve(points.size());
  for (const BufferedPoint& point : points) weights.push_back({SlotOf(interval, point.time_ns), point.weight});
  IntervalReduction result;
  size_t begin = 0, most = 0;
  for (const SlotGroup& group : GroupSlots(weights, Rooms(bounds_.cap))) {
    std::vector<size_t> indices;
    std::vector<BufferedPoint> inside;
    for (size_t i = 0; i < points.size(); ++i) {
      if (weights[i].slot < begin || weights[i].slot >= group.end) continue;
      indices.push_back(i);
      inside.push_back(points[i]);
    }
    const Reduction reduction = ReduceToCap(inside, group.cap, begin == 0 ? seed : Mix64(seed - begin));
    for (const size_t i : reduction.kept) result.kept.push_back({indices[i], reduction.WeightOf(inside[i].weight)});
    if (reduction.kept.size() >= most) result.tau = reduction.tau, most = reduction.kept.size();
    begin = group.end;
  }
  SortByIndex(&result.kept);
  return result;
}

// A sliding interval that begins in slot j of the previous interval ends in slot j of this one at the latest.
std::vector<size_t> IntervalReducer::Rooms(size_t cap) const {
  std::vector<size_t> rooms(kSlots);
  size_t before = 0;
  for (size_t slot = kSlots; slot-- > 0;) {
    before += before_[slot];
    rooms[slot] = std::min(cap, sliding_cap_ - std::min(before, sliding_cap_));
  }
  return rooms;
}

void IntervalReducer::NoteSample(uint64_t interval, uint64_t time_ns) {
  MoveTo(interval);
  if (interval == interval_) ++counts_[SlotOf(interval, time_ns)];
}

void IntervalReducer::NoteIntervalsWithPoints(uint64_t count) {
  if (budget_) budget_->CloseIntervals(count);
}

size_t IntervalReducer::SlotOf(uint64_t interval, uint64_t time_ns) const {
  const uint64_t begin = interval * bounds_.interval_ns;
  const uint64_t since = time_ns > begin ? time_ns - begin : 0;
  return std::min<size_t>(kSlots - 1, static_cast<size_t>(since / (bounds_.interval_ns / kSlots + 1)));
}

void IntervalReducer::MoveTo(uint64_t interval) {
  if (interval <= interval_) return;
  before_ = interval == interval_ + 1 ? counts_ : Counts{};
  counts_ = {};
  interval_ = interval;
}

// Reduces the points of a prefix if they exceed its limit by chance.
void IntervalReducer::BoundPrefixes(uint64_t interval, std::span<const BufferedPoint> points, uint64_t seed,
                                    std::vector<KeptPoint>* kept) {
  const std::vector<size_t> rooms = Rooms(kept->size());
  const auto slot_of = [&](const KeptPoint& point) { return SlotOf(interval, points[point.index].time_ns); };
  std::vector<size_t> in_slot(kSlots);
  for (const KeptPoint& point : *kept) ++in_slot[slot_of(point)];
  size_t in_prefix = 0;
  for (size_t slot = 0; slot < kSlots; ++slot) {
    in_prefix += in_slot[slot];
    if (in_prefix <= rooms[slot]) continue;
    in_prefix = rooms[slot];
    const auto rest = std::stable_partition(kept->begin(), kept->end(),
                                            [&](const KeptPoint& point) { return slot_of(point) <= slot; });
    std::vector<BufferedPoint> prefix;
    for (auto point = kept->begin(); point != rest; ++point) {
      prefix.push_back(points[point->index]);
      prefix.back().weight = point->weight;
    }
    const Reduction reduction = ReduceToCap(prefix, rooms[slot], Mix64(seed + slot + 1));
    std::vector<KeptPoint> left(rest, kept->end());
    for (const size_t i : reduction.kept) left.push_back({(*kept)[i].index, reduction.WeightOf((*kept)[i].weight)});
    *kept = std::move(left);
    SortByIndex(kept);
  }
}

RecordingBudget::RecordingBudget(uint64_t max_samples, size_t cap, uint64_t intervals, uint64_t recording)
    : max_samples_(static_cast<double>(max_samples)),
      cap_(static_cast<double>(cap)),
      intervals_(static_cast<double>(intervals)),
      first_mark_(1 - Random(Mix64(recording ^ kSalt)).Uniform()) {}

// A(b). While the end is known: equal parts, one more than there are intervals, so that some samples are left if the
// recording ends a little late. The rest, or N from the start if the end is unknown, is divided into ever smaller
// parts.
double RecordingBudget::LineUntil(uint64_t passed) const {
  const double part = std::min(cap_, max_samples_ / (intervals_ + 1));
  const double b = static_cast<double>(passed), even = intervals_ > 0 ? std::min(b, intervals_) : 0;
  const double later = b - even, left = max_samples_ - part * (intervals_ > 0 ? intervals_ : 0);
  return part * even + left * later / (later + left / cap_);
}

double RecordingBudget::MarksUntil(double at) const { return std::max(0.0, std::floor(at - first_mark_) + 1); }

SampleQuota RecordingBudget::Next() const {
  const double begin = LineUntil(passed_), end = LineUntil(passed_ + 1);
  const double marks = MarksUntil(begin);
  return {.length = end - begin,
          .first_mark = first_mark_ + marks - begin,
          .marks = static_cast<size_t>(MarksUntil(end) - marks)};
}

std::vector<SlotGroup> GroupSlots(std::span<const SlotWeight> points, std::span<const size_t> room) {
  Slots slots(room.size());
  for (const SlotWeight& point : points) slots[point.slot].push_back(point.weight);
  std::vector<SlotGroup> groups;
  size_t used = 0;
  for (size_t from = 0; from < room.size(); from = groups.back().end) {
    groups.push_back(Tightest(slots, from, used, room));
    used += groups.back().cap;
  }
  return groups;
}

}  // namespace heaprec::throttle
