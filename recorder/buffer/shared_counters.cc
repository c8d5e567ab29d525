#include "recorder/buffer/shared_counters.h"

namespace heaprec::buffer {

format::Books Ledger::Snapshot() const {
  format::Books out;
  // What a point becomes is read before the points: an event in flight then shows as a point not yet accounted for,
  // never as more outcomes than points.
  for (int i = 0; i < format::kRingLosses; ++i) {
    out.lost[i] = books_.lost[i].load(std::memory_order_relaxed);
    out.lost_weight[i] = books_.lost_weight[i].load(std::memory_order_relaxed);
  }
  out.second_stage = books_.second_stage.load(std::memory_order_relaxed);
  out.written = books_.written.load(std::memory_order_relaxed);
  out.committed = books_.committed.load(std::memory_order_relaxed);
  out.thinned = books_.thinned.load(std::memory_order_relaxed);
  out.points = books_.points.load(std::memory_order_relaxed);
  out.candidates = books_.candidates.load(std::memory_order_relaxed);
  out.candidate_bytes = books_.candidate_bytes.load(std::memory_order_relaxed);
  return out;
}

}  // namespace heaprec::buffer
