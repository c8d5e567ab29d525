// How many of the points of the interval at hand the sliding cap leaves: when many were kept late in the interval
// before and many have fallen early in this one, the second stage has to take some of them, full or not.
//
// Units:    time in ns since the start of the recording.
// Context:  drain.
// Threads:  one.
// Failure:  none. An estimate: the controller wants to know before the interval is reduced.
// Maths:    docs/sampler.md#controller
#pragma once

#include <array>
#include <cstdint>

namespace heaprec::throttle {

class SlidingBudget {
 public:
  // interval_ns > 0; cap and sliding_cap as IntervalReducer's.
  SlidingBudget(uint64_t interval_ns, double cap, double sliding_cap);

  // `count` points of `weight` in all fell between the last call and `time_ns`, evenly. Times never go back.
  void Add(uint64_t time_ns, double count, double weight);

  // Of the interval of the last call; may be more than cap.
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
