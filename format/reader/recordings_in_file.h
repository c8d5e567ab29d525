// Where the recordings of a file begin: one recording, or several that were merged.
//
// Cost:     reads the header of each block; after damage, every byte up to the next header.
// Failure:  none: bytes that cannot be read end the search. The first recording is assumed to be at 0, whatever is
//           there. One whose header is damaged begins with the damage.
// Format:   docs/format/recording.md#several-recordings
#pragma once

#include <cstdint>
#include <vector>

#include "format/reader/reader.h"

namespace heaprec::format {

inline constexpr size_t kMaxRecordings = 10'000;  // of a file: each takes memory as soon as it is opened

// Returns the offsets at which recordings begin. Stops after kMaxRecordings + 1: there are too many.
std::vector<uint64_t> RecordingsIn(ByteSource* source);

}  // namespace heaprec::format
