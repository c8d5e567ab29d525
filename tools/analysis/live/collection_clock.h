// When the JVM collected: how many collections had begun by a time, and how many of them had found what was dead.
//
//   CollectionClock clock(header, stream);
//   clock.Add(state);                    // every state of the recording
//   clock.AddDeath(birth_ns, died_ns);   // every tracked object that was found dead
//   clock.Close();
//
// A collection of a concurrent collector begins some time before it tells which objects are dead. Generational ZGC
// looks at weak references in major collections only, and does not announce them: there only deaths show that one has
// ended, and that every tracked object born before the youngest of the dead has survived it.
//
// Units:    time in ns since the start of the recording.
// Threads:  one; any after Close.
// Maths:    docs/streams.md#live-objects
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "format/model.h"

namespace heaprec::tools {

// Whether only major collections tell which tracked objects of the recording are dead.
bool KeepsYoungReferents(const format::FileHeader& header);

class CollectionClock {
 public:
  CollectionClock(const format::FileHeader& header, format::Stream stream);

  void Add(const format::HeapState& state);
  void AddDeath(uint64_t birth_ns, uint64_t died_ns);
  void Close();

  // Only major collections count: keeps_young_referents().
  bool of_majors() const { return of_majors_; }
  // The count at the first snapshot, and whenever it had grown since: times, ascending.
  const std::vector<std::pair<uint64_t, uint64_t>>& counts() const { return begun_; }

  // Counts that the recorder stored, in the numbers of this clock. Generational Shenandoah numbers each stretch of old
  // marking too: what has no pause collects nothing.
  uint64_t OfRecorded(uint64_t count) const;

  // That an object born then cannot have survived. 0: none, or not known.
  uint64_t BegunBy(uint64_t birth_ns) const;
  // That an object tracked then has survived, if they began after its birth.
  uint64_t EndedBy(uint64_t time_ns) const;

 private:
  using Counts = std::vector<std::pair<uint64_t, uint64_t>>;  // (time, count), ascending in both
  static uint64_t CountAt(const Counts& counts, uint64_t time_ns);
  void CloseMajors();

  const bool of_majors_;
  const bool is_concurrent_;
  const bool needs_pause_;
  const uint64_t interval_ns_;
  Counts begun_;
  Counts pauses_;                                      // of concurrent collectors: their ends, with the count there
  Counts ended_;                                       // empty: as begun_
  std::vector<std::pair<uint64_t, uint64_t>> deaths_;  // of_majors: (died, birth)
  std::vector<uint64_t> paused_;                       // needs_pause: the counts that had a pause, ascending
  std::vector<uint64_t> known_to_;                     // of_majors: births up to then, by major collection
};

}  // namespace heaprec::tools
