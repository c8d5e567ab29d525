// Checks that each roll-up of a recording is the sum of its chunk's blocks: rows, intervals and counters.
//
// Failure:  none: a difference is passed to `find`, with the roll-up's offset. Chunks after a damaged one are not
// looked
//           at.
// Format:   docs/format/recording.md#roll-up
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tools/input/recording.h"

namespace heaprec::tools {

void CheckRollUps(const Recording& recording, const std::function<void(uint64_t offset, std::string what)>& find);

}  // namespace heaprec::tools
