// What became of sampled objects that are tracked until they die (option live).
//
// Every sample of the stream of allocations is tracked from its birth, up to `max_tracked_objects` at a time
// (FileHeader); a Fate says when and how that ended. A tracked sample whose lifecycle event is in no block so far is
// alive.
//
// Weight:   at time t what is alive is estimated by the tracked samples alone, each standing for the larger of its
//           weight and the highest threshold of the kEvicted lifecycle events from its birth up to t (priority
//           sampling; docs/streams.md#live-objects).
// Units:    time in ns since the start of the recording.
// Format:   docs/format/recording.md#lifecycle-events
#pragma once

#include <cstdint>

#include "format/model/sample.h"

namespace heaprec::format {

enum class LifecycleKind : uint8_t {
  kDied = 0,       // found dead
  kEvicted = 1,    // removed at random to keep the limit: its end is unknown, and others carry its weight
  kUntracked = 2,  // never tracked: the table was full; others of its interval carry its weight
  kShrunk = 3      // a part of it is gone, and it goes on: no end, and a sample may have several
};
inline constexpr int kLifecycleKinds = 4;

struct LifecycleEvent {
  uint64_t sample = 0;  // its id
  // kDied: of the first look at it after the collection that found it dead. kEvicted: the end of the interval whose
  // samples needed the room: it says something of samples that were born before, and of no other.
  uint64_t time_ns = 0;
  LifecycleKind kind = LifecycleKind::kDied;
  // Which the JVM had completed (ProcessState::collections) when it was last seen alive: less those at its birth, what
  // it has survived.
  uint64_t collections = 0;
  double threshold = 0;                  // kEvicted: its priority; 0 else
  Stream stream = Stream::kAllocations;  // the sample's
  uint64_t left = 0;                     // kShrunk: bytes of it that are there still, less than before; 0 else
  bool operator==(const LifecycleEvent&) const = default;
};

// A sample of an earlier chunk that is alive when a chunk begins, so that any chunk alone tells who is.
struct CheckpointSample {
  Sample sample;             // indices are of the chunk that it stands in
  double threshold = 0;      // highest of the kEvicted lifecycle events since its birth; 0: none
  uint64_t collections = 0;  // which the JVM had completed at its birth
  uint64_t gone = 0;         // bytes of its size that kShrunk lifecycle events took

  uint64_t left() const { return sample.size - gone; }
};

}  // namespace heaprec::format
