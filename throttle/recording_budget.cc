#include "throttle/recording_budget.h"

#include <algorithm>
#include <cmath>

#include "throttle/random.h"

namespace heaprec::throttle {
namespace {

// Different from all seeds of intervals, which are Mix64(recording ^ index) with small indices.
constexpr uint64_t kSalt = 0x5a3b1e5c0ffee5edu;

}  // namespace

RecordingBudget::RecordingBudget(uint64_t max_samples, size_t cap, uint64_t intervals, uint64_t recording)
    : max_samples_(static_cast<double>(max_samples)),
      cap_(static_cast<double>(cap)),
      intervals_(static_cast<double>(intervals)),
      first_mark_(1 - Random(Mix64(recording ^ kSalt)).Uniform()) {}

// A(b). While the end is known, even parts: one more than there are intervals, so that some is left for a recording
// that ends a little late. What is left then, or N from the start, is given out in ever smaller parts.
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

}  // namespace heaprec::throttle
