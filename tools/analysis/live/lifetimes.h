// The lives of the sampled objects of a recording that tracked them (option live): who is alive at a time, what each
// of those stands for, and how old it is.
//
//   Lives lives(recording.header());
//   lives.Add(block, of_samples, of_survivors);              // every block; a number for each that is of interest
//   lives.Close(end_ns);
//   for (const Lifetime& life : lives.all()) if (life.IsTrackedAt(t)) sum += lives.WeightAt(life, t);   // bytes alive
//   at
//   t
//
// Units:    time in ns since the start of the recording; bytes; collections that the JVM has counted, each when it
// begins. Threads:  one; any after Close. Memory:   88 bytes for each sample of interest. Failure:  none. A sample that
// a later chunk does not list among the survivors lost its lifecycle event to damage: it is tracked
//           up to there, and what becomes of it is unknown. A mapping of which a part is gone is two lives: that of
//           the part, and that of the rest.
// Maths:    docs/streams.md#live-objects
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "format/reader/reader.h"
#include "tools/analysis/imported.h"
#include "tools/analysis/live/collection_clock.h"

namespace heaprec::tools {

// By how much the samples of an interval that are tracked are raised to stand for those that found no place: those of
// the same interval, and of the intervals before in which none found one.
//
// Maths:    docs/streams.md#live-objects
class TrackingAdjustment {
 public:
  // Of one stream, with its `interval_ns`.
  explicit TrackingAdjustment(uint64_t interval_ns, format::Stream stream = format::Stream::kAllocations);

  // The next block; of those before nothing is asked any more. Intervals and their samples share one.
  void Add(const format::Block& block);
  // 1 for a sample that has no place itself.
  double Of(const format::Sample& sample) const;

 private:
  uint64_t IntervalOf(const format::Sample& sample) const { return sample.time_ns / interval_ns_; }

  const uint64_t interval_ns_;
  const format::Stream stream_;
  std::unordered_set<uint64_t> without_place_;   // samples of the block
  std::unordered_map<uint64_t, double> raises_;  // by interval; absent: 1
  double owed_ = 0;                              // weight of earlier intervals not carried yet
};

// The thresholds at which samples were released from being tracked, over time: the highest of any span.
//
// Units:    time in ns since the start of the recording; thresholds in bytes.
// Threads:  one; any after Close.
// Memory:   24 bytes for each release.
// Maths:    docs/streams.md#live-objects
class EvictionThresholds {
 public:
  void Add(uint64_t time_ns, double threshold) { releases_.emplace_back(time_ns, threshold); }
  // Drops the releases up to then. Before Close.
  void Forget(uint64_t time_ns) {
    std::erase_if(releases_, [time_ns](const auto& release) { return release.first <= time_ns; });
  }
  // After the last Add, before the first Highest.
  void Close();
  // Of the releases from `from_ns` to `to_ns`, both included; 0: there was none.
  double Highest(uint64_t from_ns, uint64_t to_ns) const;

 private:
  std::vector<std::pair<uint64_t, double>> releases_;  // by time
  std::vector<double> highest_;  // a binary tree in an array: the leaves are the releases, a parent the higher of both
};

enum class LifetimeEnd : uint8_t {
  kAlive,    // at the end of the recording
  kDied,     // was found dead
  kEvicted,  // is not tracked any more: others stand for it
  kUnknown   // its lifecycle event was lost
};

struct Lifetime {
  uint64_t birth_ns = 0;
  uint64_t from_ns = 0;  // tracked from then on: later than its birth if that is in no part of the file
  uint64_t end_ns = 0;   // and until then; kAlive: the end of the recording
  uint64_t size = 0;
  double weight = 0;                        // at its birth
  double threshold = 0;                     // the highest that is known from a list of survivors...
  uint64_t threshold_from_ns = 0;           // ... of this time
  uint64_t gcs_at_birth = 0, ended_in = 0;  // collections by its birth, and when it was last known to be alive
  double share = 1;                         // of a mapping that parts of which are gone: this part's
  uint32_t subject = 0;                     // the caller's number
  LifetimeEnd end = LifetimeEnd::kAlive;

  bool IsTrackedAt(uint64_t time_ns) const {
    return from_ns <= time_ns && (time_ns < end_ns || (end == LifetimeEnd::kAlive && time_ns == end_ns));
  }
  // Collections survived by the end.
  uint64_t Survived() const { return ended_in > gcs_at_birth ? ended_in - gcs_at_birth : 0; }
};

class Lifetimes {
 public:
  // In place of a subject: of no interest.
  static constexpr uint32_t kLeftOut = 0xffffffff;

  // `stream`: whose samples are tracked; subjects of others are left out.
  explicit Lifetimes(const format::FileHeader& header, format::Stream stream = format::Stream::kAllocations)
      : stream_(stream),
        is_imported_(IsImported(header.source)),
        raises_(header.CapOf(stream).interval_ns, stream),
        clock_(header, stream),
        last_block_ns_(header.start.begin_ns) {}

  // `samples`, `survivors`: subjects of the block's, in its order. Of survivors that are known already none is needed.
  void Add(const format::Block& block, std::span<const uint32_t> samples, std::span<const uint32_t> live_checkpoint);
  bool Knows(uint64_t sample) const { return tracked_.contains(sample); }
  // Before Close: drops the lives that ended by then, for a reader that has asked for this time and asks for later ones
  // only. Keeps memory to what is tracked, and what is born between two calls.
  void Forget(uint64_t time_ns);
  // `end_ns`: of the recording.
  void Close(uint64_t end_ns);

  // In the order in which they were added.
  const std::vector<Lifetime>& all() const { return all_; }
  uint64_t end_ns() const { return last_block_ns_; }
  // What a life that is tracked then stands for; its objects are this over its size.
  double WeightAt(const Lifetime& life, uint64_t time_ns) const;
  // Collections that it has survived by then: none of those that had begun, but not yet been found to have ended it.
  uint64_t SurvivedBy(const Lifetime& life, uint64_t time_ns) const;
  const CollectionClock& clock() const { return clock_; }
  // Otherwise the recording does not say how many collections there were: an import from a file without them.
  bool knows_collections() const { return !is_imported_ || !clock_.counts().empty(); }
  // What has not survived a collection may be garbage that the JVM does not tell: it is live at most.
  bool is_range() const { return clock_.of_majors(); }

  // Samples that were never tracked, for want of room, and bytes of those of interest: others stand for them (Raises).
  uint64_t untracked() const { return untracked_; }
  double untracked_bytes() const { return untracked_bytes_; }

 private:
  void AddCheckpoint(const format::Block& block, std::span<const uint32_t> subjects);
  // `weight`: raised, where some of its interval found no place.
  void Born(const format::Sample& sample, double weight, uint32_t subject, uint64_t from_ns);
  void End(const format::LifecycleEvent& lifecycle);
  void Shrink(const format::LifecycleEvent& lifecycle, size_t index);
  void NoteBirth(const format::Sample& sample);

  const format::Stream stream_;
  const bool is_imported_;
  TrackingAdjustment raises_;
  std::vector<Lifetime> all_;
  std::unordered_map<uint64_t, size_t> tracked_;  // of all_, by sample: those that have no end yet
  EvictionThresholds thresholds_;
  CollectionClock clock_;
  std::unordered_map<uint64_t, uint64_t> births_;  // is_range: of all samples that are tracked, of no interest too
  uint64_t last_block_ns_ = 0;
  uint64_t untracked_ = 0;
  double untracked_bytes_ = 0;
};

}  // namespace heaprec::tools
