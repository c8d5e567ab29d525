// The counters of one stream of the recording, in the ring's header: they survive a kill with the samples.
//
// Context:  alloc and drain. Each counter is a sum, so accesses are relaxed. Only the count of lost points orders: a
//           thread that reads it then reads the weight of these points, too.
// Maths:    docs/sampler.md#counters
#pragma once

#include "format/model/model.h"
#include "format/ring/ring_layout.h"

namespace heaprec::buffer {

class SharedCounters {
 public:
  explicit SharedCounters(format::RingCounters& counters) : counters_(counters) {}

  void Prefetch() const { __builtin_prefetch(&counters_.points, 1); }
  void Point() { counters_.points.fetch_add(1, std::memory_order_relaxed); }
  void Thinned() { counters_.thinned.fetch_add(1, std::memory_order_relaxed); }
  void Committed() { counters_.committed.fetch_add(1, std::memory_order_relaxed); }
  void Lost(format::LossReason loss, double weight) { Lost(loss, 1, weight); }
  void Lost(format::LossReason loss, uint64_t points, double weight) {
    counters_.lost_weight[static_cast<int>(loss)].fetch_add(weight, std::memory_order_relaxed);
    counters_.lost[static_cast<int>(loss)].fetch_add(points, std::memory_order_release);
  }
  // The sample is recorded, but a part of it is missing.
  void Note(format::LossReason loss) { counters_.lost[static_cast<int>(loss)].fetch_add(1, std::memory_order_relaxed); }
  void Written(uint64_t samples) { counters_.written.fetch_add(samples, std::memory_order_relaxed); }
  void SecondStage(uint64_t samples) { counters_.second_stage.fetch_add(samples, std::memory_order_relaxed); }
  void SetPopulation(uint64_t candidates, uint64_t bytes) {
    counters_.candidates.store(candidates, std::memory_order_relaxed);
    counters_.candidate_bytes.store(bytes, std::memory_order_relaxed);
  }

  format::StreamCounters Snapshot() const;

 private:
  format::RingCounters& counters_;
};

}  // namespace heaprec::buffer
