// Builds the provisional block: the counts of a recorder that cannot write, until the next block overwrites it.
//
// Format:   docs/format/recording.md#provisional-block
#pragma once

#include "format/bytes/bytes.h"
#include "format/model/model.h"

namespace heaprec::format {

// `chunk`: from ChunkWriter, with a single block without samples. Returns an empty buffer for any other chunk. Pads the
// block to `at_least` bytes or more, so that it overwrites all of an earlier one.
ByteBuffer ProvisionalBlock(Bytes chunk, const RecordingId& recording, uint64_t at_least = 0);

}  // namespace heaprec::format
