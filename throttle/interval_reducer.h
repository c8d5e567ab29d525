// Second stage of a whole recording: VarOpt per interval, a limit for sliding intervals, and maxsamples=N.
//
// The cap of an interval does not limit the second that begins in its middle: a burst at the end of one interval and
// one at the start of the next could give that second 2 x cap samples. So the start of an interval may keep only the
// part of sliding_cap that the end of the previous one has not used. It is reduced to that separately (SlotGroup), and
// the rest of the interval fills the cap. If it still exceeds sliding_cap by chance, VarOpt reduces it again. Repeated
// reductions are unbiased.
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

#include "throttle/varopt.h"

namespace heaprec::throttle {

// maxsamples=N: determines how many samples each interval may keep, so that a recording of any length has at most N.
//
// The intervals with points get consecutive stretches of a line of length N: A(b) to the first b of them. The samples
// are the marks at u, u + 1, ... on the line. So each interval keeps its share, rounded down or up, and the rounding
// errors do not add up.
//
// Units:    samples; lengths in samples, too, with fractions.
// Context:  drain, and a salvager that repeats it.   Threads: one.
// Maths:    docs/sampler.md#a-limit-for-the-whole-recording
class RecordingBudget {
 public:
  // `max_samples` = N; `cap`: maximum per interval; `intervals`: their number, 0 if unknown; `recording` as in
  // ReducerConfig. max_samples, cap >= 1.
  RecordingBudget(uint64_t max_samples, size_t cap, uint64_t intervals, uint64_t recording);

  // Returns the quota of the current interval, if it has points. Its length is at most `cap`, and above 0 until it is
  // too small for a double (not in recordings of weeks).
  SampleQuota Next() const;
  // Advances by `count` intervals.
  void CloseIntervals(uint64_t count) { passed_ += count; }

 private:
  double LineUntil(uint64_t passed) const;
  double MarksUntil(double at) const;

  const double max_samples_, cap_, intervals_;
  const double first_mark_;  // u, in (0, 1]
  uint64_t passed_ = 0;      // b
};

// Divides an interval into parts whose prefixes have limits: all limits hold, the interval keeps as many points as they
// allow, and no weight is raised more than necessary.
//
// Among all inclusion probabilities that satisfy the limits, the sum of variances is minimal for min(1, w / tau) with
// one tau per group of neighbouring slots, which never increases from group to group.
//
// Context:  drain, and a salvager (it allocates).
// Maths:    docs/sampler.md#second-stage
struct SlotWeight {
  size_t slot = 0;
  double weight = 0;  // > 0
};

struct SlotGroup {
  size_t end = 0;  // past its last slot
  size_t cap = 0;  // points it may keep
};

// room[j]: the maximum that slots 0..j may keep; it never decreases with j. Returns one group that ends at room.size()
// if only the last bound matters. The bounds on prefixes within a group hold in expectation.
std::vector<SlotGroup> GroupSlots(std::span<const SlotWeight> points, std::span<const size_t> room);

// Returns the maximum samples of any sliding interval: 1.3 x cap, or 2 x cap, which is no limit, if the cap is too
// small (docs/sampler.md#second-stage).
size_t SlidingCap(size_t cap);

// Returns the seed of an interval's reduction, from the first eight bytes of the recording's id (little endian). Part
// of the format, because a salvager repeats the reduction with the same seed (docs/format/ring.md).
uint64_t ReductionSeed(uint64_t recording, uint64_t interval);

struct KeptPoint {
  size_t index = 0;  // into the input
  double weight = 0;
};

struct IntervalReduction {
  // to which most kept weights are raised; those of a prefix may be raised to a higher or lower value
  double tau = 0;
  std::vector<KeptPoint> kept;  // ascending in index
};

// The limits of a recording.
struct ReducerConfig {
  uint64_t interval_ns = 1'000'000'000;
  size_t cap = 150;          // maximum samples per interval
  uint64_t recording = 0;    // the first eight bytes of its id, from which all seeds follow
  uint64_t max_samples = 0;  // maximum samples of the whole recording; 0: no limit
  uint64_t duration_ns = 0;  // of the whole recording; 0: unknown
};

class IntervalReducer {
 public:
  // interval_ns > 0, cap > 0.
  explicit IntervalReducer(const ReducerConfig& bounds);

  // Intervals must come in ascending order.
  IntervalReduction Reduce(uint64_t interval, std::span<const BufferedPoint> points);

  // For a salvager: NoteSample adds a sample of the last interval that is already in the file; NoteIntervals the number
  // of such intervals with points.
  void NoteSample(uint64_t interval, uint64_t time_ns);
  void NoteIntervalsWithPoints(uint64_t count);

 private:
  // Resolution of the limit for sliding intervals: slots per interval.
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
  uint64_t interval_ = 0;       // latest interval
  Counts counts_{}, before_{};  // samples per slot of the latest interval and of the previous one
};

}  // namespace heaprec::throttle
