#include "throttle/interval_reducer.h"

#include <algorithm>
#include <cmath>

#include "throttle/random.h"
#include "throttle/slot_groups.h"

namespace heaprec::throttle {
namespace {

// Half an interval of an even load has a standard deviation of sqrt(cap / 4) samples, and a sliding interval has two
// halves. With this many sqrt(cap) to spare (5 standard deviations) the limit drops nothing from it. Above a cap of
// 144 that is less than the 0.3 x cap that are allowed anyway.
constexpr double kScatter = 3.6;

void SortByIndex(std::vector<KeptPoint>* kept) {
  std::sort(kept->begin(), kept->end(), [](const KeptPoint& a, const KeptPoint& b) { return a.index < b.index; });
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

// Removes what exceeds the limit of a prefix by chance.
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

}  // namespace heaprec::throttle
