// Where the recordings of a file begin: there is one, or several that were merged.
//
// Cost:     a look at the header of each block; where damage is, at every byte up to the next header.
// Failure:  none: what cannot be read ends the search. The first one is taken to be at 0, whatever is there. One whose
//           header is damaged begins with the damage.
// Format:   docs/format/recording.md#several-recordings
#pragma once

#include <cstdint>
#include <vector>

#include "format/reader/reader.h"

namespace heaprec::format {

std::vector<uint64_t> RecordingsIn(ByteSource* source);

}  // namespace heaprec::format
