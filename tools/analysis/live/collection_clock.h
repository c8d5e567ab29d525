// The JVM's collections over time: how many had begun, and how many had found their dead objects.
//
//   CollectionClock clock(header, stream);
//   clock.Add(state);                    // every state of the recording
//   clock.AddDeath(birth_ns, died_ns);   // every tracked object that was found dead
//   clock.Close();
//
// A concurrent collector finds dead objects some time after the collection begins. Generational ZGC checks weak
// references in major collections only. The JVM's pauses show how many there were: a young collection has three pauses,
// and the old one after it two more, under the same count. A requested collection promotes all young objects first, so
// every tracked object born before it and not found dead has survived it. For any other major collection this is known
// only of objects born before the youngest one that it found dead.
//
// Units:    time in ns since the start of the recording.
// Threads:  one; any after Close.
// Maths:    docs/streams.md#live-objects
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "format/model/model.h"

namespace heaprec::tools {

// Returns the number of collections before `first`, the first state of the heap. If `first` records a pause, this
// excludes the collection of that pause, except with a concurrent collector.
uint64_t CountedBefore(const format::ProcessState& first, bool is_concurrent);

// Marks a missing count of collections at birth: only a checkpoint stores one.
inline constexpr uint64_t kNoStoredCount = UINT64_MAX;

class CollectionClock {
 public:
  CollectionClock(const format::FileHeader& header, format::Stream stream);

  void Add(const format::ProcessState& state);
  void AddDeath(uint64_t birth_ns, uint64_t died_ns);
  void Close();

  // Whether only major collections find tracked objects dead (SourceFact::kKeepsYoungReferents).
  bool of_majors() const { return of_majors_; }
  // Returns false if there were pauses, but the agent could not read the JVM's count of collections.
  bool knows_counts() const { return of_majors_ || has_count_ || !has_pause_; }
  // The count at the first snapshot and after each increase, as (time, count), ascending.
  const std::vector<std::pair<uint64_t, uint64_t>>& counts() const { return begun_; }

  // Whether most collections ignore the old generation: objects that died there count as live, and as survivors of each
  // collection, until that generation is collected. False for imports, which have only the objects live at their end.
  bool keeps_old_garbage() const { return keeps_old_garbage_; }
  // The same as counts() for collections of the old generation, each counted when it ends. Empty: unknown, or not
  // keeps_old_garbage().
  const std::vector<std::pair<uint64_t, uint64_t>>& old_counts() const { return old_; }
  // The number of these that had ended by `time_ns`; before the first state: the count at that state.
  uint64_t OldCollectionsBy(uint64_t time_ns) const;

  // Converts a count that the recorder stored to this clock. Generational Shenandoah also numbers each phase of old
  // marking; one without a pause collects nothing, so it is not counted.
  uint64_t FromStoredCount(uint64_t count) const;

  // The number of collections begun by `birth_ns`: an object born then cannot have survived them. 0: none, or unknown.
  // Before the first state: CountedBefore of that state.
  uint64_t CollectionsBegunBy(uint64_t birth_ns) const;
  // The number of collections that an object tracked at `time_ns` has survived, if they began after its birth.
  uint64_t CollectionsEndedBy(uint64_t time_ns) const;

 private:
  using Counts = std::vector<std::pair<uint64_t, uint64_t>>;  // (time, count), ascending in both
  static uint64_t CountAt(const Counts& counts, uint64_t time_ns, uint64_t before);
  // A major collection, as shown by the JVM's pauses.
  struct Major {
    uint64_t ended_ns = 0;
    uint64_t promoted_to_ns = 0;  // all objects born before it were old; 0: unknown
  };
  struct Pause {
    uint64_t time_ns = 0, count = 0;
    bool promotes_all = false;
  };
  std::vector<Major> MajorsFromPauses();
  void CloseMajors();
  void CloseMajorsByDeaths();

  const bool of_majors_;
  const bool is_concurrent_;
  const bool keeps_old_garbage_;
  const bool needs_pause_;
  const uint64_t interval_ns_;
  bool has_pause_ = false, has_count_ = false;
  Counts begun_, old_;
  uint64_t earliest_ns_ = UINT64_MAX, before_ = 0;     // time of the first state, and the count before it
  Counts pauses_;                                      // concurrent collectors: end and count of each pause
  Counts ended_;                                       // empty: same as begun_
  std::vector<std::pair<uint64_t, uint64_t>> deaths_;  // of_majors: (died, birth)
  std::vector<uint64_t> paused_;                       // needs_pause: counts with a pause, ascending
  std::vector<Pause> pauses_of_majors_;                // of_majors: ends of pauses
  std::vector<uint64_t> known_to_;  // of_majors: latest birth whose survival is known, by major collection
};

}  // namespace heaprec::tools
