// Finds the recordings in a file, one or several that were merged, and their chunks.
//
// Cost:     reads the header of each block; after damage, every byte up to the next header.
// Failure:  none: bytes that cannot be read end the search. The first recording is assumed to begin at 0. A recording
//           whose header is damaged begins with the damage.
// Format:   docs/format/recording.md#several-recordings
#pragma once

#include <cstdint>
#include <vector>

#include "format/reader/chunk_span.h"
#include "format/reader/reader.h"

namespace heaprec::format {

inline constexpr size_t kMaxRecordings = 10'000;  // per file: each takes memory as soon as the file is opened

struct RecordingSpan {
  uint64_t begin = 0;
  ChunkSpans chunks;  // offsets from `begin`
};

// Stops at kMaxRecordings + 1, which means that there are too many.
std::vector<RecordingSpan> RecordingsIn(ByteSource* source);

}  // namespace heaprec::format
