// Second stage of a whole recording: VarOpt per interval, and no sliding interval far above the cap either.
//
// An interval's own bound says nothing of the second that begins in its middle: a burst at its end and one at the start
// of the next could put 2 x cap into it. So the start of an interval may hold only what the end of the one before
// leaves of sliding_cap: prefixes that hold more are reduced by VarOpt once more. Reductions of reductions stay
// unbiased.
//
// Units:    time in ns since the start of the recording.
// Context:  drain, and a salvager that repeats it (it allocates).
// Maths:    docs/sampler.md#second-stage
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heaprec::throttle {

// The most that any sliding interval may hold: 1.3 x cap; 2 x cap, which is no bound, where the cap is too small for
// that (docs/sampler.md#second-stage).
size_t SlidingCap(size_t cap);

// The seed of an interval's reduction, from the first eight bytes of the recording's id (little endian). Part of the
// format: whoever repeats a reduction uses the same (docs/format.md#ring).
uint64_t ReductionSeed(uint64_t recording, uint64_t interval);

struct TimedPoint {
  uint64_t id = 0;  // unique in the recording
  double weight = 0;
  uint64_t time_ns = 0;  // in the interval
};

struct KeptPoint {
  size_t index = 0;  // into the input
  double weight = 0;
};

struct IntervalReduction {
  double tau = 0;               // of the reduction to the cap; weights may be higher where a prefix was reduced again
  std::vector<KeptPoint> kept;  // ascending in index
};

class IntervalReducer {
 public:
  // interval_ns > 0.
  IntervalReducer(uint64_t interval_ns, size_t cap);

  // Intervals must come in ascending order. `cap` may be lower than the constructor's.
  IntervalReduction Reduce(uint64_t interval, std::span<const TimedPoint> points, size_t cap, uint64_t seed);

  // A sample that an interval is already known to hold (a salvager reads them from the file).
  void Note(uint64_t interval, uint64_t time_ns);

 private:
  // Sliding intervals are bounded to this part of an interval.
  static constexpr size_t kSlots = 20;
  using Counts = std::array<uint32_t, kSlots>;

  size_t SlotOf(uint64_t interval, uint64_t time_ns) const;
  void MoveTo(uint64_t interval);
  void BoundPrefixes(uint64_t interval, std::span<const TimedPoint> points, uint64_t seed,
                     std::vector<KeptPoint>* kept);

  const uint64_t interval_ns_;
  const size_t sliding_cap_;
  uint64_t interval_ = 0;       // the latest one
  Counts counts_{}, before_{};  // samples per slot of the latest interval and of the one just before it
};

}  // namespace heaprec::throttle
