// Is what a recording says consistent with itself? Looks at each block, then at the counters.
//
// Checked: weights, times and their order; indices within the dictionaries; per interval what was kept against what is
// there, and its cap; per block the counters against its rows; what became of tracked objects (LifecycleCheck); at the
// end the shared counters's identities (format/model/stream_counters.h).
//
// Failure:  none; what does not hold is a finding.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/input/recording.h"

namespace heaprec::tools {

// Is what a recording says of tracked objects consistent with itself?
//
// Checked: each lifecycle event is of a sample that is tracked and has none yet; their order, and thresholds; survivors
// stand in the first block of a chunk, and are those that are alive; what is not tracked, against the counters.
//
// Threads:  one.
// Format:   docs/format/recording.md#lifecycle-events
class LifecycleCheck {
 public:
  using Find = std::function<void(std::string)>;

  // Of one stream.
  LifecycleCheck(const format::FileHeader& header, format::Stream stream)
      : stream_(stream), tracks_(header.MaxTracked(stream) > 0), before_(header.start.counters[stream]) {}

  // Every block, in order. `is_gap`: bytes before it were skipped, or it was salvaged.
  void Look(const format::Block& block, bool is_gap, const Find& find);

 private:
  bool HasCheckpoint(const format::Block& block) const;
  void CheckCheckpoint(const format::Block& block, const Find& find);
  void CheckLifecycleEvent(const format::LifecycleEvent& lifecycle, const Find& find);

  const format::Stream stream_;
  const bool tracks_;
  format::StreamCounters before_;
  std::unordered_set<uint64_t> alive_;
  bool knows_all_ = false;  // every sample that may be tracked is known
  bool any_block_ = false;
  uint32_t chunk_ = 0;
  uint64_t last_ns_ = 0;
};

// Is what a census says consistent with itself: its classes with its totals, and both with its counters?
//
// Failure:  none; what does not hold is handed to `find`.
class CensusCheck {
 public:
  using Find = std::function<void(std::string)>;
  explicit CensusCheck(const format::FileHeader& header) : header_(header) {}

  void Look(const format::Block& block, const Find& find);
  // `counters`: at the end. `is_whole`: all blocks from the start to an ending were there.
  void Close(const format::CensusCounters& counters, bool is_whole, const Find& find) const;

 private:
  const format::FileHeader& header_;
  format::CensusCounters counters_;
  uint64_t walks_ = 0, bytes_ = 0;  // of the totals
};

struct Inconsistency {
  uint64_t offset = 0;  // of the block; at the end: of the end
  std::string what;
};

class Verification {
 public:
  explicit Verification(const format::FileHeader& header);

  // Every block, in order, `recording` being where it came from.
  void Look(const format::Block& block, const Recording& recording);
  // After the last.
  void Close(const Recording& recording);

  const std::vector<Inconsistency>& findings() const { return findings_; }
  // Beyond those that are kept.
  uint64_t more_findings() const { return more_; }
  uint64_t blocks() const { return blocks_; }

 private:
  struct StreamState {
    format::StreamCounters counters;
    uint64_t next_interval = 0, samples = 0, kept = 0, second_stage = 0;
    bool any_interval = false;
  };
  void LookAtSamples(const format::Block& block);
  void LookAtNames(const format::Block& block);
  void LookAtStream(const format::Block& block, format::Stream stream, bool is_gap);
  void CloseStream(const Recording& recording, format::Stream stream);
  void Find(uint64_t offset, std::string what);

  const format::FileHeader& header_;
  LifecycleCheck lifecycle_events_, native_lifecycle_events_, mapping_lifecycle_events_;
  CensusCheck census_;
  format::PerStream<StreamState> streams_;
  std::vector<Inconsistency> findings_;
  uint64_t more_ = 0;
  uint64_t blocks_ = 0, end_ns_ = 0;
  uint32_t chunk_ = 0;
  size_t nodes_seen_ = 0, frames_seen_ = 0, threads_ = 0;
  size_t gaps_before_ = 0;
};

}  // namespace heaprec::tools
