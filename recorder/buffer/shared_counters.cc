#include "recorder/buffer/shared_counters.h"

namespace heaprec::buffer {

format::StreamCounters SharedCounters::Snapshot() const {
  format::StreamCounters out;
  // What a point becomes is read before the points: an event in flight then shows as a point not yet accounted for,
  // never as more outcomes than points.
  for (int i = 0; i < format::kRingLosses; ++i) {
    out.lost[i] = counters_.lost[i].load(std::memory_order_acquire);
    out.lost_weight[i] = counters_.lost_weight[i].load(std::memory_order_relaxed);
  }
  out.second_stage = counters_.second_stage.load(std::memory_order_relaxed);
  out.written = counters_.written.load(std::memory_order_relaxed);
  out.committed = counters_.committed.load(std::memory_order_relaxed);
  out.thinned = counters_.thinned.load(std::memory_order_relaxed);
  out.points = counters_.points.load(std::memory_order_relaxed);
  out.candidates = counters_.candidates.load(std::memory_order_relaxed);
  out.candidate_bytes = counters_.candidate_bytes.load(std::memory_order_relaxed);
  return out;
}

}  // namespace heaprec::buffer
