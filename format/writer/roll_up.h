// What the blocks of a chunk add up to: its rows, and the intervals and states that tables show beside them. A chunk
// that another one follows ends with this, in a block of its own, so that a reader who needs no more passes over the
// others.
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
#include "format/codec/row_table.h"
#include "format/model/model.h"

namespace heaprec::format {

class RollUp {
 public:
  // More are no summary: the chunk has none then.
  static constexpr size_t kMaxRows = 1 << 14;

  void Add(const Window& window);
  void Add(const Interval& interval) { intervals_.push_back(interval); }
  void Add(const ProcessState& state) { states_.push_back(state); }
  void Add(std::span<const Row> rows);
  // Objects outside of TLABs that were counted.
  void AddOutside(Index class_id, uint64_t objects, uint64_t bytes) { outside_.AddCounted(class_id, objects, bytes); }
  // The chunk has something that only its blocks tell.
  void GiveUp() { is_given_up_ = true; }

  // Without rows, or with rows of only a part of the points that the intervals have, there is none; nor where bytes
  // were counted for some of the points and not for others, which only blocks keep apart.
  bool empty() const;
  // Appends the sections, and has no rows afterwards. `names`: of the chunk, in whose indices the rows are.
  void Encode(const ChunkNames& names, const PerStream<StreamCounters>& counters, std::span<const uint64_t> lanes,
              ByteBuffer* raw);

 private:
  bool is_given_up_ = false;
  uint64_t points_ = 0;  // of rows_
  RowTable rows_, outside_;
  std::vector<Interval> intervals_;
  std::vector<ProcessState> states_;
  std::optional<Window> widest_, latest_;  // of the allocations
};

}  // namespace heaprec::format
