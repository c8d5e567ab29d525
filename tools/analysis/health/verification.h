// Checks a recording for inconsistencies: each block, then the counters.
//
// Checked: weights, times and their order; indices within the dictionaries; each interval's kept samples against those
// present, and its cap; each block's rows against its intervals and samples, and its counters; tracked objects
// (LifecycleCheck); at the end the identities of the counters (format/model/stream.h).
//
// Failure:  none; each inconsistency is a finding.
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

// Checks what a recording says about tracked objects of one stream.
//
// Checked: each lifecycle event belongs to a tracked sample that has not ended yet; order and thresholds of the events;
// live checkpoints are in the first block of a chunk and have exactly the live samples; untracked samples against the
// counters.
//
// Format:   docs/format/recording.md#lifecycle-events
class LifecycleCheck {
 public:
  using Find = std::function<void(std::string)>;

  LifecycleCheck(const format::FileHeader& header, format::Stream stream)
      : stream_(stream), tracks_(header.MaxTracked(stream) > 0), before_(header.start.counters[stream]) {}

  // Call for every block, in order. `is_gap`: bytes before it were skipped, or it was salvaged.
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
};

// Checks a census: its classes against its totals, and both against its counters.
//
// Failure:  none; each inconsistency is passed to `find`.
class CensusCheck {
 public:
  using Find = std::function<void(std::string)>;
  explicit CensusCheck(const format::FileHeader& header) : header_(header) {}

  void Look(const format::Block& block, const Find& find);
  // `counters`: at the end. `is_whole`: all blocks from the start to an end marker were read.
  void Close(const format::CensusCounters& counters, bool is_whole, const Find& find) const;

 private:
  const format::FileHeader& header_;
  format::CensusCounters counters_;
  uint64_t walks_ = 0, bytes_ = 0;  // sums over the recording
};

struct Inconsistency {
  uint64_t offset = 0;  // of the block, or of the end
  std::string what;
};

class Verification {
 public:
  explicit Verification(const format::FileHeader& header);

  // Call for every block of `recording`, in order.
  void Look(const format::Block& block, const Recording& recording);
  // Call after the last block.
  void Close(const Recording& recording);
  // Adds a finding of another check.
  void Find(uint64_t offset, std::string what);

  const std::vector<Inconsistency>& findings() const { return findings_; }
  // The number of findings beyond the limit.
  uint64_t more_findings() const { return more_; }
  uint64_t blocks() const { return blocks_; }

 private:
  struct StreamState {
    format::StreamCounters counters;
    uint64_t next_interval = 0, samples = 0, second_stage = 0;
    bool any_interval = false;
  };
  void LookAtSamples(const format::Block& block);
  void LookAtNames(const format::Block& block);
  void LookAtRows(const format::Block& block);
  void LookAtStream(const format::Block& block, format::Stream stream, bool is_gap);
  void CloseStream(const Recording& recording, format::Stream stream);

  const format::FileHeader& header_;
  std::vector<LifecycleCheck> lifecycle_events_;  // of each stream
  CensusCheck census_;
  format::PerStream<StreamState> streams_;
  std::vector<Inconsistency> findings_;
  uint64_t more_ = 0;
  uint64_t blocks_ = 0, end_ns_ = 0;
  bool has_rows_ = false;                       // there were rows so far
  std::unordered_set<uint32_t> light_windows_;  // windows whose samples also represent light points
  uint32_t chunk_ = 0;
  size_t nodes_seen_ = 0, frames_seen_ = 0, threads_ = 0;
  size_t gaps_before_ = 0;
};

// Checks that each roll-up of a recording is the sum of its chunk's blocks: rows, intervals and counters.
//
// Failure:  none: a difference is passed to `find`, with the roll-up's offset. Chunks after a damaged one
//           are not checked.
// Format:   docs/format/recording.md#roll-up

void CheckRollUps(const Recording& recording, const std::function<void(uint64_t offset, std::string what)>& find);

}  // namespace heaprec::tools
