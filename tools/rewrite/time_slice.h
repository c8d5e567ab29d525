// Cuts a time span out of a recording, block by block: docs/format/recording.md#a-span-of-a-recording.
//
// Time 0 of the cut is the last border of intervals of all streams that is not after the span's begin, so that
// intervals keep their borders.
//
// Units:    ns since the start of the recording that is read, unless said otherwise.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "format/codec/chunk_names.h"
#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"

namespace heaprec::tools {

// Returns the span, extended to whole blocks if a border cuts a block with rows, which cannot be divided. Reads all of
// `recording`.
std::pair<uint64_t, uint64_t> ExtendToRows(const Recording& recording, uint64_t from_ns, uint64_t to_ns);

class TimeSlice {
 public:
  // Cuts [from, to); returns no rows of a block that a border cuts.
  TimeSlice(const format::FileHeader& header, uint64_t from_ns, uint64_t to_ns);

  // The header of the cut: its own id and start, no ring.
  const format::FileHeader& header() const { return header_; }
  // Returns the part of the next block in the span: no block, or one with the dictionaries of `block`. Before the first
  // one there may be a block with the live checkpoint and dictionaries of this object. Valid until the next call.
  std::vector<format::Block> Of(const format::Block& block);
  // The range of the recording being read, from its header and the blocks so far.
  uint64_t begin_ns() const { return begin_ns_; }
  uint64_t end_ns() const { return last_ns_; }
  // Counters of the cut so far.
  const format::PerStream<format::StreamCounters>& counters() const { return counters_; }
  // Returns the end marker of the cut, given that of a copy of the whole recording.
  format::EndMarker EndingOf(const format::EndMarker& ending) const;

 private:
  // Rows of intervals whose samples could not be written: their points, and their counts in the stream's unit.
  struct LostRows {
    uint64_t buffered = 0;
    double counted = 0;
    void Add(const format::Interval& row);
  };
  // State of a stream.
  struct State {
    format::StreamCounters latest;           // of the recording, from the last block
    format::StreamCounters rows, rows_in;    // candidates and their bytes in the rows so far, and in those of the cut
    format::StreamCounters excess_at_begin;  // counts beyond the rows when the span began
    std::optional<uint64_t> last_row;
    LostRows lost_rows, lost_rows_in;  // in the block
    uint64_t dropped = 0;              // by the second stage, in the block's other rows
    format::StreamCounters missed;     // candidates and bytes of the cut that are in no row
    bool misses_rows = false;          // samples of the cut were lost with the rows of their intervals
  };

  void AddIntervals(const format::Block& block, format::Block* cut);
  bool AddBorder(const format::Block& cut, format::Interval* interval) const;
  void AddLosses(const format::StreamCounters& now, State* state, format::StreamCounters* counters) const;
  void AddCensus(const format::Block& block, format::Block* cut);
  void AddCounters(const format::Block& block, format::Block* cut);
  // Returns the block with the live checkpoint of the cut, if the cut begins with this block.
  std::optional<format::Block> AddLifecycleEvents(const format::Block& block, format::Block* cut);
  std::optional<format::Block> Opening(const format::Block& block);
  void NoteNames(const format::Block& block);
  void Track(const format::Sample& sample);
  void NoteLifecycleEvent(const format::LifecycleEvent& lifecycle);
  bool Apply(const format::LifecycleEvent& lifecycle);
  void NoteCollections(const format::Block& block);
  uint64_t CollectionsBy(uint64_t time_ns) const;
  bool IsWithin(uint64_t time_ns) const { return time_ns >= from_ns_ && time_ns < to_ns_; }
  uint64_t Since(uint64_t time_ns) const { return time_ns > shift_ns_ ? time_ns - shift_ns_ : 0; }

  format::FileHeader header_;
  const uint64_t from_ns_, to_ns_, begin_ns_;
  uint64_t shift_ns_ = 0;  // a multiple of the intervals of every stream
  format::PerStream<State> states_;
  format::PerStream<format::StreamCounters> start_;     // of the recording, from before the file
  format::CensusCounters census_before_, census_;       // of the recording at the beginning of the span; of the cut
  uint64_t last_ns_ = 0;                                // of the blocks so far
  format::PerStream<format::StreamCounters> counters_;  // of the cut
  // Live tracked samples by id, with the names in names_; from the first block of the cut on, those in the cut, without
  // names.
  std::map<uint64_t, format::CheckpointSample> alive_;
  format::ChunkNames names_;
  CopiedNames<format::ChunkNames> copied_;
  format::Dictionaries dictionaries_;  // of the block from Opening
  std::optional<uint32_t> chunk_;
  std::vector<std::pair<uint64_t, uint64_t>> collections_;  // before the span: (time, count), ascending in both
  bool has_begun_ = false;                                  // the cut has a block
  bool is_within_ = false;                                  // the current block ends in the span
};

}  // namespace heaprec::tools
