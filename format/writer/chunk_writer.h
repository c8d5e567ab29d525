// Encodes one chunk: interns names, collects rows, and emits self-delimiting blocks, some followed by a parity record.
// All bytes that it returns belong in the file, in this order and with nothing between them.
//
// Units:    as model.h.
// Context:  drain (it allocates).
// Threads:  one.
// Failure:  Flush and Finish return an Error if zstd fails; the chunk is then unusable, and the caller starts another.
// Format:   docs/format/recording.md#chunks
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/bytes/block_stream.h"
#include "format/bytes/bytes.h"
#include "format/bytes/layout.h"
#include "format/bytes/parity.h"
#include "format/codec/chunk_names.h"
#include "format/codec/dictionaries.h"
#include "format/codec/dictionary_codec.h"
#include "format/codec/file_header.h"  // EncodeFileHeader: the first bytes of every recording
#include "format/codec/row_codec.h"
#include "format/codec/sample_codec.h"
#include "format/model/model.h"
#include "format/writer/roll_up.h"

namespace heaprec::format {

class ChunkWriter {
 public:
  // `sequence` counts the chunks of a recording from 0. Each chunk has a copy of the file's header.
  ChunkWriter(const FileHeader& header, uint32_t sequence);
  ChunkWriter(const ChunkWriter&) = delete;
  ChunkWriter& operator=(const ChunkWriter&) = delete;

  // Returns the index of the entry, new or existing. A new definition is written into the next block.
  Index InternClass(std::string_view name) { return dictionaries_.names().InternClass(name); }
  Index InternMethod(std::string_view class_name, std::string_view name, std::string_view descriptor) {
    return dictionaries_.names().InternMethod(class_name, name, descriptor);
  }
  Index InternMethod(const Method& method) { return InternMethod(method.class_name, method.name, method.descriptor); }
  Index InternStack(std::span<const StackFrame> leaf_first, bool truncated) {
    return dictionaries_.names().InternStack(leaf_first, truncated);
  }
  Index InternThread(const Thread& thread) { return dictionaries_.names().InternThread(thread); }
  // As InternStack; for rows.
  Index InternPath(std::span<const StackFrame> leaf_first, bool truncated) {
    return dictionaries_.names().InternPath(leaf_first, truncated);
  }

  // Adds to the next block. Indices must come from this chunk. Samples may be added in any order of time.
  void Add(const Sample& sample) { samples_[sample.stream()].Add(sample); }
  void Add(const Window& window);
  void Add(const Interval& interval);
  void Add(const Row& row) { rows_.Add(row); }  // adds to the row of the same class and path
  void AddPoint(Index class_id, Index path, uint64_t size, double weight) { rows_.Add(class_id, path, size, weight); }
  // Adds objects outside of TLABs, which were counted.
  void AddOutside(Index class_id, uint64_t objects, uint64_t bytes);
  // Notes that rows of some points of the next block are lost.
  void LoseRows() { open_since_ = next_block_; }
  // Omits all rows from the first row interval on that needs more than the `left` remaining ones.
  void LimitRows(uint64_t left) { rows_left_ = left; }
  uint64_t rows_left() const { return rows_left_; }
  void Add(const ProcessState& state);
  // Ascending in time.
  void Add(const LifecycleEvent& lifecycle) { lifecycle_events_.push_back(lifecycle); }
  // For the chunk's first block only.
  void Add(const CheckpointSample& checkpoint_sample) { live_checkpoint_.push_back(checkpoint_sample); }
  void AddCensus(const CensusRow& row);
  void AddCensusTotal(const CensusRow& row);
  // Applies to all later blocks. `page`: number of the last census page of the ring whose rows are in blocks up to the
  // next one.
  void SetCensus(const CensusCounters& counters, uint64_t page);

  // Applies to all later blocks: bytes that were skipped as damaged when this copy was made.
  void SetSkippedBytes(uint64_t bytes);

  bool has_pending() const;
  // Bytes before compression so far, without pending rows. The caller starts a new chunk beyond a limit.
  uint64_t raw_bytes() const { return raw_bytes_; }
  // Heap bytes of pending rows (Row).
  uint64_t row_bytes() const { return pending_rows() * sizeof(Row); }
  // How many are pending.
  size_t pending_rows() const { return rows_.size() + outside_.size(); }
  // Pending ones, as a block would have them. Precondition: nothing was interned since the last block.
  std::vector<Row> rows() const { return dictionaries_.Numbered(rows_.rows()); }
  std::vector<Row> outside() const { return dictionaries_.Numbered(outside_.rows()); }
  // Sequence number of the next block.
  uint32_t next_block() const { return next_block_; }
  // Heap bytes of the chunk's names.
  uint64_t name_bytes() const { return names().bytes(); }
  const ChunkNames& names() const { return dictionaries_.names(); }
  // Moves out the interned names; indices stay valid. The chunk is not usable afterwards.
  ChunkNames TakeNames() { return dictionaries_.TakeNames(); }

  // Whether rows (Row) go into the next block, or wait for a later one because the row interval continues.
  enum class RowsAre : uint8_t { kDue, kOpen };

  // Returns everything pending as one block. It can be decoded once all its bytes are in the file. `lane_positions`:
  // per lane, the position before which all records are accounted for in the blocks up to this one, or in its open
  // rows.
  Result<ByteBuffer> Flush(const PerStream<StreamCounters>& counters, std::span<const uint64_t> lane_positions,
                           uint64_t now_ns, RowsAre rows = RowsAre::kDue);

  // As Flush, and ends the chunk. `ending` (may be null) also ends the recording; without it the chunk gets a roll-up.
  Result<ByteBuffer> Finish(const PerStream<StreamCounters>& counters, std::span<const uint64_t> lane_positions,
                            uint64_t now_ns, const EndMarker* ending);

  // Returns parity for the blocks after the last parity record; may be empty. Call it for a chunk that continues, or
  // ends without Finish.
  ByteBuffer ProtectRest();

 private:
  Result<ByteBuffer> Block(const PerStream<StreamCounters>& counters, std::span<const uint64_t> lane_positions,
                           uint64_t now_ns, bool last, const EndMarker* ending, RowsAre rows_are);
  void EncodeDueRows();

  const ChunkHeader header_;
  BlockPacker packer_;
  const ByteBuffer fields_;  // header fields of the file
  bool started_ = false;
  DictionaryEncoder dictionaries_;
  PerStream<SampleEncoder> samples_ = PerStreamOf([](Stream stream) { return SampleEncoder(stream); });
  RowTable rows_, outside_;
  uint64_t rows_left_ = UINT64_MAX;
  uint32_t next_block_ = 0;
  std::optional<uint32_t> open_since_;  // first block of the open row interval, if it has one
  RollUp roll_up_;
  std::vector<ProcessState> states_;
  std::vector<LifecycleEvent> lifecycle_events_;
  std::vector<CheckpointSample> live_checkpoint_;
  std::vector<CensusRow> census_, census_totals_;
  CensusCounters census_counters_;
  uint64_t census_page_ = 0;
  uint64_t skipped_bytes_ = 0;
  uint64_t raw_bytes_ = 0;
  ByteBuffer raw_;
  ParityWriter parity_;
};

// Builds the provisional block: the counters of a recorder that cannot write, until the next block overwrites it.
//
// Format:   docs/format/recording.md#provisional-block

// `chunk`: from ChunkWriter, with a single block without samples; for any other chunk, returns an empty buffer. Pads
// the block to `at_least` bytes, so that it overwrites an earlier one completely.
ByteBuffer ProvisionalBlock(Bytes chunk, const RecordingId& recording, uint64_t at_least = 0);

}  // namespace heaprec::format
