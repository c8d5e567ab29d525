// Second stage of a whole recording: VarOpt per interval, no sliding interval far above the cap either, and
// maxsamples=N.
//
// An interval's own bound says nothing of the second that begins in its middle: a burst at its end and one at the start
// of the next could put 2 x cap into it. So the start of an interval may hold only what the end of the one before
// leaves of sliding_cap: it is reduced to that on its own (SlotGroup), and the rest of the interval fills the cap. What
// chance still puts above it is reduced by VarOpt once more. Reductions of reductions stay unbiased.
//
// Units:    time in ns since the start of the recording.
// Context:  drain, and a salvager that repeats it (it allocates).
// Maths:    docs/sampler.md#second-stage
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "throttle/recording_budget.h"
#include "throttle/varopt.h"

namespace heaprec::throttle {

// The most that any sliding interval may hold: 1.3 x cap; 2 x cap, which is no bound, where the cap is too small for
// that (docs/sampler.md#second-stage).
size_t SlidingCap(size_t cap);

// The seed of an interval's reduction, from the first eight bytes of the recording's id (little endian). Part of the
// format: whoever repeats a reduction uses the same (docs/format/ring.md).
uint64_t ReductionSeed(uint64_t recording, uint64_t interval);

struct KeptPoint {
  size_t index = 0;  // into the input
  double weight = 0;
};

struct IntervalReduction {
  double tau = 0;               // that most kept weights are raised to; those of a prefix may be higher, or lower
  std::vector<KeptPoint> kept;  // ascending in index
};

// What a recording promises.
struct ReducerConfig {
  uint64_t interval_ns = 1'000'000'000;
  size_t cap = 150;          // most samples per interval
  uint64_t recording = 0;    // the first eight bytes of its id: what all that is drawn depends on
  uint64_t most = 0;         // samples of the whole recording; 0: no bound
  uint64_t duration_ns = 0;  // of the whole recording; 0: not known
};

class IntervalReducer {
 public:
  // interval_ns > 0, cap > 0.
  explicit IntervalReducer(const ReducerConfig& bounds);

  // Intervals must come in ascending order.
  IntervalReduction Reduce(uint64_t interval, std::span<const BufferedPoint> points);

  // For a salvager, of the intervals that are in the file already: a sample of the last one, and that one held points.
  void NoteSample(uint64_t interval, uint64_t time_ns);
  void NoteHeld();

 private:
  // Sliding intervals are bounded to this part of an interval.
  static constexpr size_t kSlots = 100;
  using Counts = std::array<uint32_t, kSlots>;

  size_t SlotOf(uint64_t interval, uint64_t time_ns) const;
  void MoveTo(uint64_t interval);
  std::vector<size_t> Rooms(size_t cap) const;
  static IntervalReduction ReduceWhole(std::span<const BufferedPoint> points, const SampleQuota& quota, uint64_t seed);
  IntervalReduction ReduceGroups(uint64_t interval, std::span<const BufferedPoint> points, uint64_t seed) const;
  void BoundPrefixes(uint64_t interval, std::span<const BufferedPoint> points, uint64_t seed,
                     std::vector<KeptPoint>* kept);

  const ReducerConfig bounds_;
  const size_t sliding_cap_;
  std::optional<RecordingBudget> budget_;
  uint64_t interval_ = 0;       // the latest one
  Counts counts_{}, before_{};  // samples per slot of the latest interval and of the one just before it
};

}  // namespace heaprec::throttle
