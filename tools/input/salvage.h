// Converts data that only a recording's shared ring has to the blocks that the drain would have written.
//
// It repeats the drain's rules on the same points, so the result is the same: samples are grouped by throttle interval,
// a late sample counts in the next interval, and the same IntervalReducer reduces each interval, given the samples in
// the file. Each stream has its own intervals.
//
// Units:    as format/model/model.h.
// Failure:  a lane is read up to its first invalid record; the report has the error.
// Maths:    docs/sampler.md#second-stage   Format: docs/format/ring.md
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/input/ring_copy.h"

namespace heaprec::tools {

// The tracked samples of a recording that are live according to the blocks so far.
//
// Memory:   one id per sample, about FileHeader::max_tracked_objects; none if nothing is tracked.
// Threads:  one.
// Format:   docs/format/recording.md#lifecycle-events
class TrackedIds {
 public:
  // Call for every block, in order, of a recording with tracked objects.
  void Note(const format::Block& block) {
    for (const format::CheckpointSample& checkpoint_sample : block.live_checkpoint)
      left_.emplace(checkpoint_sample.sample.id, checkpoint_sample.left());
    for (const format::Sample& sample : block.samples) {
      if (sample.stream() != format::Stream::kExceptions) Add(sample);
    }
    for (const format::LifecycleEvent& lifecycle : block.lifecycle_events) (void)Take(lifecycle);
  }
  void Add(const format::Sample& sample) { left_.emplace(sample.id, sample.size); }
  // Returns whether the event is new and of one of these samples. Removes the sample if the event ends it.
  bool Take(const format::LifecycleEvent& lifecycle) {
    if (lifecycle.kind != format::LifecycleKind::kShrunk) return left_.erase(lifecycle.sample) > 0;
    const auto found = left_.find(lifecycle.sample);
    if (found == left_.end() || lifecycle.left >= found->second) return false;
    found->second = lifecycle.left;
    return true;
  }

 private:
  std::unordered_map<uint64_t, uint64_t> left_;  // remaining bytes, by id
};

struct SalvageReport {
  bool ring_found = false;  // the ring exists and belongs to this recording
  uint64_t held = 0;        // samples that only the ring had
  uint64_t events = 0;      // of these, those kept under the cap
  uint64_t unnamed = 0;     // of these, those with an undefined class, thread or stack
  uint64_t invalid = 0;     // samples with an invalid weight or kind, left out
  int write_errno = 0;      // why the file could not be written at the end; 0: it could
  std::vector<std::string> errors;
};

// The states in the file: all ids below `next` except the missing ones.
class StateIds {
 public:
  void Add(uint64_t id);
  bool Has(uint64_t id) const { return id < next_ && missing_.count(id) == 0; }

 private:
  uint64_t next_ = 0;  // 0: none yet
  std::set<uint64_t> missing_;
};

// The end of the file, at which the ring continues.
struct FileEnd {
  std::vector<uint64_t> lane_positions;  // from the last block; empty if there was none
  uint64_t census_page = 0;              // the file has the rows of the ring's census pages up to this one
  struct StreamEnd {
    uint64_t next_interval = 0;          // all earlier intervals are in the file
    uint64_t intervals_with_points = 0;  // how many of them have points
    std::vector<uint64_t> latest_times;  // times of the samples of the previous interval
    uint64_t candidates = 0, bytes = 0;  // sums over the intervals since the file's beginning
  };
  format::PerStream<StreamEnd> streams;
  StateIds states;
  TrackedIds tracked;
  uint32_t next_chunk = 0;
  uint32_t threads = 0;  // number of threads in the file
  uint64_t offset = 0;
  uint64_t end_ns = 0;  // of the last block
  format::PerStream<format::StreamCounters> counters;
};

struct Salvaged {
  std::unique_ptr<format::Dictionaries> dictionaries;  // the blocks point to it
  std::vector<format::Block> blocks;                   // one per interval of a stream, in the order of their ends
  format::PerStream<format::StreamCounters> counters;  // as the drain would have written them
  format::CensusCounters census;                       // from the ring
  SalvageReport report;
};

// Counts walks that are in no row as lost (`recorded_bytes`: those of all rows). If the recording was cut off, also
// counts walks in progress and, if everything is to be walked, those that were due.
void CountUnrecordedAsLost(format::CensusMode mode, bool was_cut_off, uint64_t recorded_bytes,
                           format::CensusCounters* counters);

// Returns the maximum number of points under way at a time: one per thread, including threads that are not known yet.
uint64_t MaxPointsUnderWay(size_t lanes, size_t threads);

// Reads `file` again from its start if names are missing in the ring. is_running: points in progress are not lost.
Salvaged Salvage(const RingCopy& ring, const format::FileHeader& header, const FileEnd& end, format::ByteSource* file,
                 bool is_running);

}  // namespace heaprec::tools
