// The drain's part of tracking: the tracked samples of a recording, and their lifecycle events.
//
// A sample is added when its interval closes. If its object has died by then, its lifecycle event is written at once;
// otherwise it enters a reservoir, which evicts samples beyond its capacity.
//
// Units:    ns since the start of the recording.
// Context:  drain (it allocates).
// Threads:  one.
// Maths:    docs/streams.md#live-objects   Format: docs/format/recording.md#lifecycle-events
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "format/model/model.h"
#include "format/ring/ring_records.h"
#include "throttle/priority_reservoir.h"

namespace heaprec::writer {

// The keys of a sample's names in the lanes.
struct NameKeys {
  uint64_t class_key = 0, thread_key = 0;
  format::StackKey stack_key{0, 0};
};

// A point of an interval that has been closed.
struct ClosedSample {
  format::Sample sample;  // with its final weight
  NameKeys keys;
  uint16_t tracking_index = 0;  // 0: not tracked
  bool is_kept = false;
};

// Returns the capacity of the reservoir if `max_tracked` objects are tracked at a time. The other entries are for
// points of open intervals: `buffered` per interval under a steady load, and several times that if the load changes. So
// there are six times `buffered`, at least an eighth and at most half of `max_tracked`.
uint32_t ReservoirOf(uint32_t max_tracked, uint32_t buffered);

class TrackedSet {
 public:
  struct Callbacks {
    std::function<void(uint16_t tracking_index, uint64_t sample)> drop;  // stops tracking it
    std::function<uint64_t(uint16_t tracking_index, uint64_t sample)> collections_at_birth;
    std::function<uint64_t()> collections;  // completed so far
  };
  // max_tracked 0: nothing is tracked. buffered: as in ReservoirOf. `stream`: the stream of these samples.
  TrackedSet(uint32_t max_tracked, uint32_t buffered, uint64_t seed, Callbacks recorder,
             format::Stream stream = format::Stream::kAllocations);

  bool tracks() const { return max_tracked_ > 0; }

  // The object died, or the mapping shrank. The event is in a lane; its position is needed as long as the sample's
  // interval is open.
  void Died(const format::LifecycleEvent& lifecycle, uint32_t lane, uint64_t begin);
  // The interval that ends at `end_ns` has been closed, with all these points.
  void Close(uint64_t end_ns, std::span<const ClosedSample> births);

  // The lifecycle events since the last call, ascending in time.
  std::vector<format::LifecycleEvent> TakeLifecycleEvents();
  // Lowers `floors`: per lane, to the first position from `least` on with a death that has not been returned yet.
  void LowerTo(const std::vector<uint64_t>& least, std::vector<uint64_t>* floors) const;

  // Returns the highest threshold of the evictions after a birth at this time; 0: none.
  double ThresholdSince(uint64_t birth_ns) const;

  // Live objects whose samples are in earlier blocks. Ascending in id.
  struct Tracked {
    format::CheckpointSample checkpoint_sample;  // names and threshold are not set
    NameKeys keys;
    uint16_t tracking_index = 0;
  };
  const std::map<uint64_t, Tracked>& tracked() const { return tracked_; }

 private:
  // The latest event of a sample whose interval is open, or that was not kept.
  struct Early {
    format::LifecycleEvent lifecycle;
    uint32_t lane;
    uint64_t begin;
    int closes = 0;  // number of intervals closed since
  };
  void Shrink(const format::LifecycleEvent& lifecycle, Tracked* tracked);
  // Returns the factor by which weights of tracked samples are multiplied to represent all kept samples, including
  // those of earlier intervals without a tracked sample.
  double AdjustmentOf(std::span<const ClosedSample> births);
  void Add(uint64_t end_ns, const ClosedSample& birth, double adjustment);
  void Release(uint64_t end_ns);
  void ForgetOldDeaths();

  const uint32_t max_tracked_;
  const format::Stream stream_;
  const Callbacks recorder_;
  throttle::PriorityReservoir reservoir_;
  std::map<uint64_t, Tracked> tracked_;
  std::unordered_map<uint64_t, Early> early_;
  std::vector<format::LifecycleEvent> lifecycle_events_;
  double owed_ = 0;  // weight of intervals that no sample represents yet
  // Eviction thresholds that are not exceeded by later ones.
  struct Threshold {
    uint64_t time_ns;
    double value;
  };
  std::deque<Threshold>
      thresholds_;  // ascending in time, descending in value; without those before all tracked samples
};

}  // namespace heaprec::writer
