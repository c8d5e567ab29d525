// Sums over the blocks of a chunk: its rows, and the intervals and states that tables show with them. Every chunk
// except the last ends with a block of these sums, so that a reader who needs only them skips the other blocks.
//
// Context:  drain (it allocates).
// Threads:  one.
// Format:   docs/format/recording.md#roll-up
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/codec/chunk_names.h"
#include "format/codec/row_codec.h"
#include "format/model/model.h"

namespace heaprec::format {

class RollUp {
 public:
  // With more rows than this, the chunk has no roll-up.
  static constexpr size_t kMaxRows = 1 << 14;

  void Add(const Window& window);
  void Add(const Interval& interval) { intervals_.push_back(interval); }
  void Add(const ProcessState& state) { states_.push_back(state); }
  void Add(std::span<const Row> rows);
  // Adds objects outside of TLABs, which were counted.
  void AddOutside(Index class_id, uint64_t objects, uint64_t bytes) { outside_.AddCounted(class_id, objects, bytes); }
  // The chunk contains something that only its blocks can represent, so it gets no roll-up.
  void GiveUp() { is_given_up_ = true; }

  // True if there are no rows, if rows cover only some of the points of the intervals, or if bytes were counted for
  // some of the points only: blocks keep these apart, a sum does not.
  bool empty() const;
  // Appends the sections and removes all rows. `names`: of the chunk to which the rows' indices refer.
  void Encode(const ChunkNames& names, const PerStream<StreamCounters>& counters, std::span<const uint64_t> lanes,
              ByteBuffer* raw);

 private:
  bool is_given_up_ = false;
  uint64_t points_ = 0;  // of rows_
  RowTable rows_, outside_;
  std::vector<Interval> intervals_;
  std::vector<ProcessState> states_;
  std::optional<Window> widest_, latest_;  // largest mean distance of points and latest one, of the allocations
};

}  // namespace heaprec::format
