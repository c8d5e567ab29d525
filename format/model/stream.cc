#include "format/model/stream.h"

#include <algorithm>
#include <numeric>

namespace heaprec::format {

const char* LossReasonName(LossReason loss) {
  constexpr std::array kNames{"missed",       "ring_full", "lanes_busy", "no_clock",    "no_stack",
                              "write_failed", "oversized", "killed",     "stack_chunks"};
  static_assert(kNames.size() == kLosses);
  return kNames[static_cast<size_t>(loss)];
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
