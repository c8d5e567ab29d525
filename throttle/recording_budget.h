// maxsamples=N: what each interval of a recording may keep, so that the whole never keeps more than N and never ends.
//
// A line of length N is dealt out, A(b) to the first b intervals that held points; the marks at u, u + 1, ... on it are
// the samples. Every interval gets a stretch of it, so each keeps what it is due, rounded down or up, and the roundings
// of all intervals add up to none.
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
  // `most` = N; `cap`: most per interval; `intervals`: how many there will be, 0 if nobody knows; `recording` as in
  // Bounds. most, cap >= 1.
  RecordingBudget(uint64_t most, size_t cap, uint64_t intervals, uint64_t recording);

  // Of the interval at hand, if it holds points. Its length is at most `cap`, and above 0 until it is too small for a
  // double (not in recordings of weeks).
  SampleQuota Next() const;
  // That interval is done.
  void CloseInterval() { ++passed_; }

 private:
  double LineUntil(uint64_t passed) const;
  double MarksUntil(double at) const;

  const double most_, cap_, intervals_;
  const double first_mark_;  // u, in (0, 1]
  uint64_t passed_ = 0;      // b
};

}  // namespace heaprec::throttle
