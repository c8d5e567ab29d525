// The end of tracking of sampled objects (option live).
//
// Every sample of the allocation stream is tracked from its birth, up to `max_tracked_objects` at a time (FileHeader).
// A LifecycleEvent says when and how tracking ended. A tracked sample without a lifecycle event so far is live.
//
// Weight:   live bytes at time t are estimated from the tracked samples alone. Each represents the larger of its weight
//           and the highest threshold of the kEvicted events from its birth to t (priority sampling;
//           docs/streams.md#live-objects).
// Units:    time in ns since the start of the recording.
// Format:   docs/format/recording.md#lifecycle-events
#pragma once

#include <cstdint>

#include "format/model/sample.h"

namespace heaprec::format {

enum class LifecycleKind : uint8_t {
  kDied = 0,       // found dead by a collection
  kEvicted = 1,    // removed at random to keep the limit: its death is unknown, and others carry its weight
  kUntracked = 2,  // never tracked: the table was full; others of its interval carry its weight
  kShrunk = 3      // a part of it was unmapped: tracking continues, and a sample may have several of these
};
inline constexpr int kLifecycleKinds = 4;

struct LifecycleEvent {
  uint64_t sample = 0;  // id of the sample
  // kDied: time of the first check after the collection that found the object dead. kEvicted: end of the interval whose
  // samples needed the entries; it affects only samples born earlier.
  uint64_t time_ns = 0;
  LifecycleKind kind = LifecycleKind::kDied;
  // Collections completed when the object was last seen live. Minus the collections completed at its birth: those that
  // it survived.
  uint64_t collections = 0;
  double threshold = 0;                  // kEvicted: the priority of the evicted sample; otherwise 0
  Stream stream = Stream::kAllocations;  // stream of the sample
  uint64_t left = 0;                     // kShrunk: its remaining bytes; otherwise 0
  bool operator==(const LifecycleEvent&) const = default;
};

// A sample of an earlier chunk that is live when a chunk begins, so that each chunk alone has all live samples.
struct CheckpointSample {
  Sample sample;             // its indices refer to the chunk that contains it
  double threshold = 0;      // highest of the kEvicted lifecycle events since its birth; 0: none
  uint64_t collections = 0;  // completed at its birth
  uint64_t gone = 0;         // bytes removed by kShrunk events since its birth

  uint64_t left() const { return sample.size - gone; }
};

}  // namespace heaprec::format
