// What a recording's shared ring still holds beyond its file, as the blocks the drain would have written.
//
// The drain's rules, repeated on the same points, so that its result and this one are the same: samples are grouped by
// throttle interval, one that comes after its interval was written counts in the next, and each interval is reduced
// by the same IntervalReducer, told what is in the file already. Each stream has intervals of its own.
//
// Units:    as format/model/model.h.
// Failure:  a lane whose records cannot be true is read up to there; the error is kept in the report.
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

// Which samples of a recording are tracked and, as far as its blocks so far tell, alive.
//
// Memory:   an id for each, so about FileHeader::max_tracked_objects of them; none where nothing is tracked.
// Threads:  one.
// Format:   docs/format/recording.md#lifecycle-events
class TrackedIds {
 public:
  // Every block, in order, of a recording in which objects are tracked.
  void Note(const format::Block& block) {
    for (const format::CheckpointSample& checkpoint_sample : block.live_checkpoint)
      left_.emplace(checkpoint_sample.sample.id, checkpoint_sample.left());
    for (const format::Sample& sample : block.samples) {
      if (sample.stream() != format::Stream::kExceptions) Add(sample);
    }
    for (const format::LifecycleEvent& lifecycle : block.lifecycle_events) (void)Take(lifecycle);
  }
  void Add(const format::Sample& sample) { left_.emplace(sample.id, sample.size); }
  // Whether it is of one of them, and news. It is not any longer if that ends it.
  bool Take(const format::LifecycleEvent& lifecycle) {
    if (lifecycle.kind != format::LifecycleKind::kShrunk) return left_.erase(lifecycle.sample) > 0;
    const auto found = left_.find(lifecycle.sample);
    if (found == left_.end() || lifecycle.left >= found->second) return false;
    found->second = lifecycle.left;
    return true;
  }

 private:
  std::unordered_map<uint64_t, uint64_t> left_;  // bytes that are there still, by id
};

struct SalvageReport {
  bool ring_found = false;  // the ring exists and belongs to this recording
  uint64_t held = 0;        // samples that were only in the ring
  uint64_t events = 0;      // of these, kept under the cap
  uint64_t unnamed = 0;     // of these, with a class, thread or stack that is defined nowhere
  uint64_t invalid = 0;     // samples whose weight or kind cannot be true, left out
  int write_errno = 0;      // why the file could not be written in the end; 0: it could
  std::vector<std::string> errors;
};

// Which states the file has: all ids below `next` but those that are missing.
class StateIds {
 public:
  void Add(uint64_t id);
  bool Has(uint64_t id) const { return id < next_ && missing_.count(id) == 0; }

 private:
  uint64_t next_ = 0;  // 0: none yet
  std::set<uint64_t> missing_;
};

// Where the file ends and the ring goes on.
struct FileEnd {
  std::vector<uint64_t> lane_positions;  // of the last block; empty if there was none
  uint64_t census_page = 0;              // the file has the rows of the ring's census pages up to this one
  format::CensusCounters census;
  struct StreamEnd {
    uint64_t next_interval = 0;          // all before are in the file
    uint64_t intervals_with_points = 0;  // how many of them held points
    std::vector<uint64_t> latest_times;  // of the samples of the interval just before
    uint64_t candidates = 0, bytes = 0;  // of the rows of intervals since the file's begin
  };
  format::PerStream<StreamEnd> streams;
  StateIds states;
  TrackedIds tracked;
  uint32_t next_chunk = 0;
  uint32_t threads = 0;  // that the file names
  uint64_t offset = 0;
  uint64_t end_ns = 0;  // of the last block
  format::PerStream<format::StreamCounters> counters;
};

struct Salvaged {
  std::unique_ptr<format::Dictionaries> dictionaries;  // the blocks point to it
  std::vector<format::Block> blocks;                   // one per interval of a stream, in the order of their ends
  format::PerStream<format::StreamCounters> counters;  // the drain's, had it written these blocks
  format::CensusCounters census;                       // the ring's
  SalvageReport report;
};

// Counts as lost what was walked and is in no row (`recorded_bytes`: those of all rows). If the recording was cut off,
// also the walks under way: what was due and not walked, if all is to be walked.
void CountUnrecordedAsLost(format::CensusMode mode, bool was_cut_off, uint64_t recorded_bytes,
                           format::CensusCounters* counters);

// Returns the maximum number of points under way at a time: one per thread, including threads that are not known yet.
uint64_t MaxPointsUnderWay(size_t lanes, size_t threads);

// `file` is read once more from its start if names are missing in the ring. is_running: what is under way is not lost.
Salvaged Salvage(const RingCopy& ring, const format::FileHeader& header, const FileEnd& end, format::ByteSource* file,
                 bool is_running);

}  // namespace heaprec::tools
