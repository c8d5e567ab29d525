// Where the chunks of a file are, from their headers alone, so that several can be read at once.
//
// Threads:  any; each reader has one of its own.
// Format:   docs/format/recording.md#chunks
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "format/reader/reader.h"

namespace heaprec::format {

struct ChunkSpan {
  uint64_t begin = 0, end = 0;  // end: after its last block
  uint64_t next = 0;            // where the next chunk begins
};

// The chunk of the recording that begins at `offset`. nullopt: there is none, no other chunk follows it directly, one
// of its parity records is damaged, or its blocks have more than `most_raw_bytes`.
std::optional<ChunkSpan> FindChunk(ByteSource* source, const FileHeader& header, uint64_t offset,
                                   uint64_t most_raw_bytes);

// Reads a recording with this header from `offset`, where a chunk begins. Returns the same as a reader of the whole
// file that got there without damage. `source` must outlive it.
std::unique_ptr<Reader> ReadFrom(ByteSource* source, const FileHeader& header, uint64_t offset);

}  // namespace heaprec::format
