// maxsamples=N: how many samples each interval may keep, so that a recording of any length has at most N.
//
// The intervals with points get consecutive stretches of a line of length N: A(b) to the first b of them. The samples
// are the marks at u, u + 1, ... on the line. So each interval keeps its share, rounded down or up, and the rounding
// errors do not add up.
//
// Units:    samples; lengths in samples, too, with fractions.
// Context:  drain, and a salvager that repeats it.   Threads: one.
// Failure:  none.
// Maths:    docs/sampler.md#a-limit-for-the-whole-recording
#pragma once

#include <cstddef>
#include <cstdint>

#include "throttle/varopt.h"

namespace heaprec::throttle {

class RecordingBudget {
 public:
  // `max_samples` = N; `cap`: maximum per interval; `intervals`: their number, 0 if unknown; `recording` as in
  // ReducerConfig. max_samples, cap >= 1.
  RecordingBudget(uint64_t max_samples, size_t cap, uint64_t intervals, uint64_t recording);

  // The quota of the current interval, if it has points. Its length is at most `cap`, and above 0 until it is too small
  // for a double (not in recordings of weeks).
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

}  // namespace heaprec::throttle
