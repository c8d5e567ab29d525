// How many points of the current interval the sliding cap leaves. If many points were kept late in the previous
// interval and there are many early in this one, the second stage must drop some of them, even if the interval is not
// full.
//
// Units:    time in ns since the start of the recording.
// Context:  drain.
// Threads:  one.
// Failure:  none. An estimate, because the controller needs it before the interval is reduced.
// Maths:    docs/sampler.md#controller
#pragma once

#include <array>
#include <cstdint>

namespace heaprec::throttle {

class SlidingBudget {
 public:
  // interval_ns > 0; cap and sliding_cap as IntervalReducer's.
  SlidingBudget(uint64_t interval_ns, double cap, double sliding_cap);

  // Adds `count` points, with a total weight of `weight`, evenly spread between the last call and `time_ns`. Times
  // never decrease.
  void Add(uint64_t time_ns, double count, double weight);

  // For the interval of the last call; may exceed cap.
  double sliding_budget() const { return usable_; }

 private:
  static constexpr uint64_t kParts = 50;  // of an interval: a tick of the drain, for intervals of 1 s
  struct Part {
    double count = 0, weight = 0;
  };

  void AddToInterval(uint64_t time_ns, double count, double weight);
  void MoveTo(uint64_t interval);
  uint64_t PartOf(uint64_t time_ns) const;

  uint64_t interval_ns_;
  double cap_, sliding_cap_;
  uint64_t interval_ = 0, last_ns_ = 0;
  std::array<Part, kParts> parts_{};
  std::array<double, kParts + 1> kept_after_{};  // in the interval just before: kept in part k or later
  double usable_ = 0;
};

}  // namespace heaprec::throttle
