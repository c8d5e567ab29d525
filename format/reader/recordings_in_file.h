// Where the recordings of a file begin, one or several that were merged, and their chunks.
//
// Cost:     reads the header of each block; after damage, every byte up to the next header.
// Failure:  none: bytes that cannot be read end the search. The first recording is assumed to be at 0, whatever is
//           there. One whose header is damaged begins with the damage.
// Format:   docs/format/recording.md#several-recordings
#pragma once

#include <cstdint>
#include <vector>

#include "format/reader/chunk_span.h"
#include "format/reader/reader.h"

namespace heaprec::format {

inline constexpr size_t kMaxRecordings = 10'000;  // of a file: each takes memory as soon as it is opened

struct RecordingSpan {
  uint64_t begin = 0;
  ChunkSpans chunks;  // offsets from `begin`
};

// Stops after kMaxRecordings + 1: there are too many.
std::vector<RecordingSpan> RecordingsIn(ByteSource* source);

}  // namespace heaprec::format
