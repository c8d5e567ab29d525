#include "format/model/stream_counters.h"

#include <algorithm>
#include <numeric>

namespace heaprec::format {

const char* LossReasonName(LossReason loss) {
  switch (loss) {
    case LossReason::kDroppedByJvm:
      return "missed";
    case LossReason::kRingFull:
      return "ring_full";
    case LossReason::kLanesBusy:
      return "lanes_busy";
    case LossReason::kThreadLimit:
      return "no_clock";
    case LossReason::kNoStack:
      return "no_stack";
    case LossReason::kWriteFailed:
      return "write_failed";
    case LossReason::kOversized:
      return "oversized";
    case LossReason::kKilled:
      return "killed";
    case LossReason::kStackChunks:
      return "stack_chunks";
  }
  return "unknown";
}

uint64_t StreamCounters::LostPoints() const {
  uint64_t points = 0;
  for (const LossReason reason : {LossReason::kDroppedByJvm, LossReason::kRingFull, LossReason::kLanesBusy,
                                  LossReason::kOversized, LossReason::kKilled}) {
    points += lost[static_cast<size_t>(reason)];
  }
  return points;
}

uint64_t StreamCounters::AllLost() const {
  // A sample without a stack is recorded with its weight, so it is not lost.
  return std::accumulate(lost.begin(), lost.end(), uint64_t{0}) - lost[static_cast<size_t>(LossReason::kNoStack)] -
         stack_chunks();
}

double StreamCounters::AllLostWeight() const {
  double all = 0;
  for (size_t reason = 0; reason < kLosses; ++reason) {
    if (IsLoss(static_cast<LossReason>(reason))) all += lost_weight[reason];
  }
  return all;
}

StreamCounters StreamCounters::Since(const StreamCounters& earlier) const {
  StreamCounters since = *this;
  for (const auto counter : kStreamCounterFields) since.*counter -= std::min(since.*counter, earlier.*counter);
  since.unseen_allocators = unseen_allocators;  // a current count, not cumulative
  for (size_t reason = 0; reason < kLosses; ++reason) {
    since.lost[reason] -= std::min(since.lost[reason], earlier.lost[reason]);
    since.lost_weight[reason] = std::max(since.lost_weight[reason] - earlier.lost_weight[reason], 0.0);
  }
  return since;
}

}  // namespace heaprec::format
