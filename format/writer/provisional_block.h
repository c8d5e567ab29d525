// Builds the provisional block: the counters of a recorder that cannot write, until the next block overwrites it.
//
// Format:   docs/format/recording.md#provisional-block
#pragma once

#include "format/bytes/bytes.h"
#include "format/model/model.h"

namespace heaprec::format {

// `chunk`: from ChunkWriter, with a single block without samples; for any other chunk, returns an empty buffer. Pads
// the block to `at_least` bytes, so that it overwrites an earlier one completely.
ByteBuffer ProvisionalBlock(Bytes chunk, const RecordingId& recording, uint64_t at_least = 0);

}  // namespace heaprec::format
