#include "format/books.h"

#include <algorithm>

namespace heaprec::format {

const char* LossName(Loss loss) {
  switch (loss) {
    case Loss::kMissed:
      return "missed";
    case Loss::kRingFull:
      return "ring_full";
    case Loss::kLanesBusy:
      return "lanes_busy";
    case Loss::kNoClock:
      return "no_clock";
    case Loss::kNoStack:
      return "no_stack";
    case Loss::kWriteFailed:
      return "write_failed";
    case Loss::kOversized:
      return "oversized";
  }
  return "unknown";
}

Books Books::Since(const Books& earlier) const {
  Books since = *this;
  for (const auto counter : kBookCounters) since.*counter -= std::min(since.*counter, earlier.*counter);
  for (size_t reason = 0; reason < kLosses; ++reason) {
    since.lost[reason] -= std::min(since.lost[reason], earlier.lost[reason]);
    since.lost_weight[reason] = std::max(since.lost_weight[reason] - earlier.lost_weight[reason], 0.0);
  }
  return since;
}

}  // namespace heaprec::format
