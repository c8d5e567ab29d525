// The lifetimes of the tracked samples of a recording (option live): which are live at a time, what each of them
// represents, and how old it is.
//
//   Lifetimes lifetimes(recording.header());
//   lifetimes.Add(block, of_samples, of_checkpoint);  // every block; a group's number per sample, or kLeftOut
//   lifetimes.Close(end_ns);
//   for (const Lifetime& one : lifetimes.all()) {
//     if (one.IsTrackedAt(now_ns)) bytes += lifetimes.WeightAt(one, now_ns);
//   }
//
// Units:    time in ns since the start of the recording; bytes; collections, which the JVM counts when they begin.
// Threads:  one; any after Close.
// Memory:   88 bytes for each sample that is not left out.
// Failure:  none. If the live checkpoint of a later chunk lacks a sample, its lifecycle event was lost with damaged
//           bytes: the sample is tracked up to that chunk, and its end is unknown. A mapping of which a part was
//           unmapped has two lifetimes: that of the part, and that of the rest.
// Maths:    docs/streams.md#live-objects
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "format/reader/reader.h"
#include "tools/analysis/live/collection_clock.h"
#include "tools/input/stream_traits.h"

namespace heaprec::tools {

// The factor for the weights of an interval's tracked samples, so that they also represent the untracked ones: those of
// the same interval, and of earlier intervals in which no sample was tracked.
//
// Maths:    docs/streams.md#live-objects
class TrackingAdjustment {
 public:
  // Adjusts one stream, with its `interval_ns`.
  explicit TrackingAdjustment(uint64_t interval_ns, format::Stream stream = format::Stream::kAllocations);

  // Adds the next block. Afterwards Of accepts only samples of this block. An interval and its samples are in one
  // block.
  void Add(const format::Block& block);
  // Returns 1 for a sample that is untracked itself.
  double Of(const format::Sample& sample) const;

 private:
  uint64_t IntervalOf(const format::Sample& sample) const { return sample.time_ns / interval_ns_; }

  const uint64_t interval_ns_;
  const format::Stream stream_;
  std::unordered_set<uint64_t> without_place_;   // samples of the block
  std::unordered_map<uint64_t, double> raises_;  // by interval; absent: 1
  double owed_ = 0;                              // weight of earlier intervals that no sample represents yet
};

// The thresholds of evictions over time. Finds the highest one in any span.
//
// Units:    time in ns since the start of the recording; thresholds in bytes.
// Threads:  one; any after Close.
// Memory:   24 bytes for each eviction.
// Maths:    docs/streams.md#live-objects
class EvictionThresholds {
 public:
  void Add(uint64_t time_ns, double threshold) { releases_.emplace_back(time_ns, threshold); }
  // Drops the evictions up to `time_ns`. Call before Close.
  void Forget(uint64_t time_ns) {
    std::erase_if(releases_, [time_ns](const auto& release) { return release.first <= time_ns; });
  }
  // Call after the last Add, before the first Highest.
  void Close();
  // The highest threshold from `from_ns` to `to_ns`, both included; 0: there was no eviction.
  double Highest(uint64_t from_ns, uint64_t to_ns) const;

 private:
  std::vector<std::pair<uint64_t, double>> releases_;  // by time
  // a binary tree in an array: the leaves are the evictions, a parent has the maximum of its children
  std::vector<double> highest_;
};

enum class LifetimeEnd : uint8_t {
  kAlive,    // live at the end of the recording
  kDied,     // was found dead
  kEvicted,  // is no longer tracked: other samples carry its weight
  kUnknown   // its lifecycle event was lost
};

struct Lifetime {
  uint64_t birth_ns = 0;
  uint64_t from_ns = 0;  // start of tracking: later than its birth if the birth is not in the file
  uint64_t end_ns = 0;   // end of tracking; kAlive: the end of the recording
  uint64_t size = 0;
  double weight = 0;                        // at its birth
  double threshold = 0;                     // the highest known from a live checkpoint ...
  uint64_t threshold_from_ns = 0;           // ... at this time
  uint64_t gcs_at_birth = 0, ended_in = 0;  // collections at its birth, and when it was last seen live
  double share = 1;                         // of a mapping from which parts were unmapped: this part's fraction
  uint32_t subject = 0;                     // the caller's group
  LifetimeEnd end = LifetimeEnd::kAlive;

  bool IsTrackedAt(uint64_t time_ns) const {
    return from_ns <= time_ns && (time_ns < end_ns || (end == LifetimeEnd::kAlive && time_ns == end_ns));
  }
  // Number of collections survived until the end.
  uint64_t Survived() const { return ended_in > gcs_at_birth ? ended_in - gcs_at_birth : 0; }
};

// Until when the recorder is known to have checked which tracked objects are dead. It checks 50 ms to 2 s after a
// collection, and when it stops. In a file that ends otherwise (killed, running, trimmed, a part of a rotation), only
// the deaths found by a check prove it.
//
// Units:    time in ns since the start of the recording.
class ReferenceChecks {
 public:
  static constexpr uint64_t kToTheEnd = std::numeric_limits<uint64_t>::max();

  ReferenceChecks(const format::FileHeader& header, format::Stream stream);

  // Adds the death of a tracked object.
  void AddDeath(uint64_t found_ns);
  void AddEnding(const format::EndMarker& ending);
  // Returns the time up to which deaths are known in a file that ends at `end_ns`; 0: no check is known.
  uint64_t DeathsKnownUntil(uint64_t end_ns) const;

 private:
  const uint64_t interval_ns_;
  bool to_the_end_;
  uint64_t begun_ns_ = 0, before_ns_ = 0;  // the latest check with a death, and the previous one
  uint64_t last_death_ns_ = 0;
};

class Lifetimes {
 public:
  // Used as a group: leave the sample out.
  static constexpr uint32_t kLeftOut = 0xffffffff;

  // `stream`: the stream whose samples are tracked; others are ignored.
  explicit Lifetimes(const format::FileHeader& header, format::Stream stream = format::Stream::kAllocations)
      : stream_(stream),
        is_imported_(IsImported(header.source)),
        raises_(header.CapOf(stream).interval_ns, stream),
        clock_(header, stream),
        checks_(header, stream),
        last_block_ns_(header.start.begin_ns) {}

  // `samples`, `live_checkpoint`: the groups of the block's samples and of its live checkpoint, in order. Checkpoint
  // samples that are already known need no group.
  void Add(const format::Block& block, std::span<const uint32_t> samples, std::span<const uint32_t> live_checkpoint);
  bool Knows(uint64_t sample) const { return tracked_.contains(sample); }
  // Drops the lifetimes that ended up to `time_ns`, for a reader that needs only later times. Memory is then bounded by
  // the tracked samples and those born between two calls. Call before Close.
  void Forget(uint64_t time_ns);
  // `end_ns`: end of the recording.
  void Close(uint64_t end_ns);

  // In the order of their addition.
  const std::vector<Lifetime>& all() const { return all_; }
  uint64_t end_ns() const { return last_block_ns_; }
  // Bytes that a sample tracked at `time_ns` represents; divided by its size: objects.
  double WeightAt(const Lifetime& life, uint64_t time_ns) const;
  // Number of collections that it has certainly survived by `time_ns`, not counting one that may still find it dead.
  uint64_t SurvivedBy(const Lifetime& life, uint64_t time_ns) const;
  // Whether it is tracked at `time_ns`, and has survived at least this many collections by then: no collection frees
  // native memory.
  bool IsLiveAt(const Lifetime& life, uint64_t time_ns, uint64_t collections) const;
  // How many of these were of the old generation.
  uint64_t SurvivedOldBy(const Lifetime& life, uint64_t time_ns) const;
  const CollectionClock& clock() const { return clock_; }
  // Returns false if the recording does not have the number of collections (an import from a file without them, an
  // agent without HotSpot's symbols).
  bool knows_collections() const { return clock_.knows_counts() && (!is_imported_ || !clock_.counts().empty()); }
  // Whether survived collections are known; false also if the file ends before any check after a collection.
  bool knows_survivors() const { return knows_collections() && !is_unchecked_; }
  // Until then it is known which objects collections found dead.
  uint64_t checked_ns() const { return checked_ns_; }
  // Whether objects that have not survived a collection may be garbage (generational ZGC), so that live bytes are a
  // range.
  bool is_range() const { return clock_.of_majors(); }

  // Number and bytes of samples that were never tracked, because the table was full; the bytes exclude samples that are
  // left out. Other samples carry their weight (TrackingAdjustment).
  uint64_t untracked() const { return untracked_; }
  double untracked_bytes() const { return untracked_bytes_; }

 private:
  void AddCheckpoint(const format::Block& block, std::span<const uint32_t> subjects);
  // `weight`: adjusted if samples of its interval are untracked.
  void Born(const format::Sample& sample, double weight, uint32_t subject, uint64_t from_ns);
  void End(const format::LifecycleEvent& lifecycle);
  void Shrink(const format::LifecycleEvent& lifecycle, size_t index);
  void NoteBirth(const format::Sample& sample);

  const format::Stream stream_;
  const bool is_imported_;
  TrackingAdjustment raises_;
  std::vector<Lifetime> all_;
  std::unordered_map<uint64_t, size_t> tracked_;  // index in all_ by sample, of those without an end so far
  EvictionThresholds thresholds_;
  CollectionClock clock_;
  ReferenceChecks checks_;
  uint64_t checked_ns_ = ReferenceChecks::kToTheEnd;
  bool is_unchecked_ = false;
  std::unordered_map<uint64_t, uint64_t> births_;  // if is_range: of all tracked samples, including those left out
  uint64_t last_block_ns_ = 0;
  uint64_t untracked_ = 0;
  double untracked_bytes_ = 0;
};

}  // namespace heaprec::tools
