// Where chunks stand in a file, by the headers alone, so that several of them can be read at once.
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
  uint64_t begin = 0, end = 0;  // behind its last block
  uint64_t next = 0;            // where the next chunk begins
};

// The chunk of the recording that begins at `offset`; nullopt: there is none, or it is not followed by another at once,
// or one of its parity records is damaged, or its blocks have more than `most_raw_bytes`.
std::optional<ChunkSpan> FindChunk(ByteSource* source, const FileHeader& header, uint64_t offset,
                                   uint64_t most_raw_bytes);

// Reads a recording with this header from `offset` on, where a chunk begins: what is returned is what a reader of the
// whole would return that has come there without damage. `source` must outlive it.
std::unique_ptr<Reader> ReadFrom(ByteSource* source, const FileHeader& header, uint64_t offset);

}  // namespace heaprec::format
