// Makes a block that stands at the end of a file until one can be written: the counts of a recorder that cannot write.
//
// Format:   docs/format/recording.md#provisional-block
#pragma once

#include "format/bytes/bytes.h"
#include "format/model/model.h"

namespace heaprec::format {

// `chunk`: one as of ChunkWriter, of a single block without samples. Empty: it is none.
ByteBuffer ProvisionalBlock(Bytes chunk, const RecordingId& recording);

}  // namespace heaprec::format
