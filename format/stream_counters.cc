#include "format/stream_counters.h"

#include <algorithm>
#include <numeric>

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
    case Loss::kKilled:
      return "killed";
    case Loss::kStackChunks:
      return "stack_chunks";
  }
  return "unknown";
}

uint64_t Books::LostPoints() const {
  uint64_t points = 0;
  for (const Loss reason : {Loss::kMissed, Loss::kRingFull, Loss::kLanesBusy, Loss::kOversized, Loss::kKilled}) {
    points += lost[static_cast<size_t>(reason)];
  }
  return points;
}

uint64_t Books::AllLost() const { return std::accumulate(lost.begin(), lost.end(), uint64_t{0}) - stack_chunks(); }

double Books::AllLostWeight() const {
  double all = 0;
  for (size_t reason = 0; reason < kLosses; ++reason) {
    if (IsLoss(static_cast<Loss>(reason))) all += lost_weight[reason];
  }
  return all;
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
