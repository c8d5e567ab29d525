// Where the chunks of a file are, from their headers alone, so that several can be read at once.
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
#include "format/reader/chunk_decoder.h"
#include "format/reader/reader.h"

namespace heaprec::format {

struct ChunkSpan {
  uint64_t begin = 0, end = 0;            // end: after its last block, without the roll-up
  uint64_t next = 0;                      // where the next chunk begins
  uint64_t roll_up = 0, roll_up_end = 0;  // its roll-up; 0: it has none
  uint64_t raw_bytes = 0;                 // of all its blocks
  uint32_t sequence = 0;

  bool operator==(const ChunkSpan&) const = default;
};

// Of a recording, in their order, up to the first that is damaged or that no other follows.
using ChunkSpans = std::vector<ChunkSpan>;

// Finds them for whoever walks from header to header.
class ChunkSpanBuilder {
 public:
  // The next part. Offsets are those of the spans.
  void AddChunkHeader(uint64_t at, const ChunkHeader& header);
  void AddBlock(uint64_t at, const BlockHeader& header);
  void AddParity() { is_stopped_ |= !is_open_; }
  // After damage: no later chunk is looked for.
  void Stop() { is_open_ = false, is_stopped_ = true; }

  const ChunkSpans& spans() const { return spans_; }
  ChunkSpans Take() { return std::move(spans_); }
  bool is_stopped() const { return is_stopped_; }
  uint64_t raw_bytes() const { return open_.raw_bytes; }  // of the chunk that is not complete yet

 private:
  ChunkSpans spans_;
  ChunkSpan open_;
  bool is_open_ = false, is_stopped_ = false;
};

// The chunk of the recording that begins at `offset`. nullopt: there is none, no other chunk follows it directly, or
// its blocks have more than `most_raw_bytes`.
std::optional<ChunkSpan> FindChunk(ByteSource* source, const FileHeader& header, uint64_t offset,
                                   uint64_t most_raw_bytes);

// The chunk's roll-up, as one block for all of the chunk; nullopt: it has none, or cannot be decoded. `decoder`: new,
// must outlive it. Nothing else of the chunk is read: damage to it is not seen.
std::optional<Block> ReadRollUp(ByteSource* source, const FileHeader& header, const ChunkSpan& chunk,
                                ChunkDecoder* decoder);

// Reads a recording with this header from `offset`, where a chunk begins. Returns the same as a reader of the whole
// file that got there without damage, but for the samples that may be left out. `source` must outlive it.
std::unique_ptr<Reader> ReadFrom(ByteSource* source, const FileHeader& header, uint64_t offset,
                                 LeavesOut leaves_out = {});

}  // namespace heaprec::format
