#include "throttle/interval_reducer.h"

#include <algorithm>
#include <cmath>

#include "throttle/random.h"
#include "throttle/varopt.h"

namespace heaprec::throttle {
namespace {

// The samples of half an interval of an even load scatter by sqrt(cap / 4), and two halves meet in a sliding interval:
// with this many sqrt(cap) to spare (5 standard deviations) the bound takes nothing from it. Above a cap of 144 that is
// less than the 0.3 x cap that are allowed anyway.
constexpr double kScatter = 3.6;

}  // namespace

size_t SlidingCap(size_t cap) {
  const auto slack =
      static_cast<size_t>(std::max(0.3 * static_cast<double>(cap), kScatter * std::sqrt(static_cast<double>(cap))));
  return cap + std::min(cap, slack);
}

uint64_t ReductionSeed(uint64_t recording, uint64_t interval) { return Mix64(recording ^ interval); }

IntervalReducer::IntervalReducer(uint64_t interval_ns, size_t cap)
    : interval_ns_(interval_ns), sliding_cap_(SlidingCap(cap)) {}

IntervalReduction IntervalReducer::Reduce(uint64_t interval, std::span<const TimedPoint> points, size_t cap,
                                          uint64_t seed) {
  MoveTo(interval);
  std::vector<WeightedPoint> weights;
  weights.reserve(points.size());
  for (const TimedPoint& point : points) weights.push_back({point.id, point.weight});
  const Reduction reduction = ReduceToCap(weights, cap, seed);
  IntervalReduction result;
  result.tau = reduction.tau;
  result.kept.reserve(reduction.kept.size());
  for (const size_t index : reduction.kept) result.kept.push_back({index, reduction.WeightOf(points[index].weight)});
  BoundPrefixes(interval, points, seed, &result.kept);
  for (const KeptPoint& point : result.kept) ++counts_[SlotOf(interval, points[point.index].time_ns)];
  return result;
}

void IntervalReducer::Note(uint64_t interval, uint64_t time_ns) {
  MoveTo(interval);
  if (interval == interval_) ++counts_[SlotOf(interval, time_ns)];
}

size_t IntervalReducer::SlotOf(uint64_t interval, uint64_t time_ns) const {
  const uint64_t begin = interval * interval_ns_;
  const uint64_t since = time_ns > begin ? time_ns - begin : 0;
  return std::min<size_t>(kSlots - 1, static_cast<size_t>(since / (interval_ns_ / kSlots + 1)));
}

void IntervalReducer::MoveTo(uint64_t interval) {
  if (interval <= interval_) return;
  before_ = interval == interval_ + 1 ? counts_ : Counts{};
  counts_ = {};
  interval_ = interval;
}

// A sliding interval that begins in slot j of the one before ends in slot j of this one at the latest.
void IntervalReducer::BoundPrefixes(uint64_t interval, std::span<const TimedPoint> points, uint64_t seed,
                                    std::vector<KeptPoint>* kept) {
  size_t still_before = 0;
  for (const uint32_t count : before_) still_before += count;
  for (size_t slot = 0; slot < kSlots; ++slot) {
    const size_t room = sliding_cap_ > still_before ? sliding_cap_ - still_before : 0;
    std::vector<WeightedPoint> prefix;
    std::vector<KeptPoint> rest;
    std::vector<KeptPoint> inside;
    for (const KeptPoint& point : *kept) {
      const bool in_prefix = SlotOf(interval, points[point.index].time_ns) <= slot;
      (in_prefix ? inside : rest).push_back(point);
    }
    still_before -= before_[slot];
    if (inside.size() <= room) continue;
    prefix.reserve(inside.size());
    for (const KeptPoint& point : inside) prefix.push_back({points[point.index].id, point.weight});
    const Reduction reduction = ReduceToCap(prefix, room, Mix64(seed + slot + 1));
    for (const size_t i : reduction.kept) rest.push_back({inside[i].index, reduction.WeightOf(inside[i].weight)});
    std::sort(rest.begin(), rest.end(), [](const KeptPoint& a, const KeptPoint& b) { return a.index < b.index; });
    *kept = std::move(rest);
  }
}

}  // namespace heaprec::throttle
