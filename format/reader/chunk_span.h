// Where the chunks of a file are, from their headers alone, so that several can be read at once; and blocks that are
// read by themselves.
//
// Threads:  any; each reader has one of its own.
// Format:   docs/format/recording.md#chunks
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "format/bytes/layout.h"
#include "format/model/model.h"
#include "format/reader/chunk_decoder.h"
#include "format/reader/reader.h"

namespace heaprec::format {

struct ChunkSpan {
  uint64_t begin = 0, end = 0;            // end: of its last block, without the roll-up
  uint64_t next = 0;                      // where the next chunk begins
  uint64_t roll_up = 0, roll_up_end = 0;  // position of its roll-up; 0: it has none
  uint64_t raw_bytes = 0;                 // sum over its blocks
  uint32_t sequence = 0;

  bool operator==(const ChunkSpan&) const = default;
};

// The chunks of a recording in order, up to the first that is damaged or not followed by another.
using ChunkSpans = std::vector<ChunkSpan>;

// Collects the spans while its caller walks from header to header.
class ChunkSpanBuilder {
 public:
  // Adds the next part. Offsets are those of the spans.
  void AddChunkHeader(uint64_t at, const ChunkHeader& header);
  void AddBlock(uint64_t at, const BlockHeader& header);
  void AddParity() { is_stopped_ |= !is_open_; }
  // Called after damage: later chunks are not added.
  void Stop() { is_open_ = false, is_stopped_ = true; }

  const ChunkSpans& spans() const { return spans_; }
  ChunkSpans Take() { return std::move(spans_); }
  bool is_stopped() const { return is_stopped_; }
  uint64_t raw_bytes() const { return open_.raw_bytes; }  // of the incomplete chunk

 private:
  ChunkSpans spans_;
  ChunkSpan open_;
  bool is_open_ = false, is_stopped_ = false;
};

// Finds the chunk that begins at `offset`. Returns nullopt if there is none, if it is not directly followed by another
// chunk, or if its blocks have more than `most_raw_bytes`.
std::optional<ChunkSpan> FindChunk(ByteSource* source, const FileHeader& header, uint64_t offset,
                                   uint64_t most_raw_bytes);

// Reads the chunk's roll-up: one block for the whole chunk. Returns nullopt if there is none, or it cannot be decoded.
// `decoder` is new and must outlive the block. Nothing else of the chunk is read, so damage to it stays unnoticed.
std::optional<Block> ReadRollUp(ByteSource* source, const FileHeader& header, const ChunkSpan& chunk,
                                ChunkDecoder* decoder);

// Reads a recording with this header from `offset`, where a chunk begins. Returns the same as a reader of the whole
// file that met no damage before, except for samples that may be left out. `source` must outlive it.
std::unique_ptr<Reader> ReadFrom(ByteSource* source, const FileHeader& header, uint64_t offset,
                                 LeavesOut leaves_out = {});

// Reads the provisional block at the end of a file: the counters of a recorder that could not write.
//
// Failure:  returns nullopt if there is none at the offset, or it is incomplete.
// Format:   docs/format/recording.md#provisional-block

// `offset`: where the unfinished tail of the recording begins. The block has no dictionaries.
std::optional<Block> ReadProvisionalBlock(ByteSource* source, const FileHeader& header, uint64_t offset);

}  // namespace heaprec::format
