// Where the chunks of a file are, from their headers alone, so that several can be read at once.
//
// Threads:  any; each reader has one of its own.
// Format:   docs/format/recording.md#chunks
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "format/reader/chunk_decoder.h"
#include "format/reader/reader.h"

namespace heaprec::format {

struct ChunkSpan {
  uint64_t begin = 0, end = 0;            // end: after its last block, without the roll-up
  uint64_t next = 0;                      // where the next chunk begins
  uint64_t roll_up = 0, roll_up_end = 0;  // its roll-up; 0: it has none
  uint32_t sequence = 0;
};

// The chunk of the recording that begins at `offset`. nullopt: there is none, no other chunk follows it directly, one
// of its parity records is damaged, or its blocks have more than `most_raw_bytes`.
std::optional<ChunkSpan> FindChunk(ByteSource* source, const FileHeader& header, uint64_t offset,
                                   uint64_t most_raw_bytes);

// The chunk's roll-up, as one block for all of the chunk; nullopt: it has none, or cannot be decoded. `decoder`: new,
// must outlive it.
std::optional<Block> ReadRollUp(ByteSource* source, const FileHeader& header, const ChunkSpan& chunk,
                                ChunkDecoder* decoder);

// Reads a recording with this header from `offset`, where a chunk begins. Returns the same as a reader of the whole
// file that got there without damage, but for the samples that may be left out. `source` must outlive it.
std::unique_ptr<Reader> ReadFrom(ByteSource* source, const FileHeader& header, uint64_t offset,
                                 LeavesOut leaves_out = {});

}  // namespace heaprec::format
