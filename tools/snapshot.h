// A copy of a recording as it is now, with what only its ring holds, and an ending of its own.
//
// Threads:  one.
// Failure:  a sentence for the user.
// Format:   docs/format.md: the file's blocks as they are, then one chunk of the salvaged ones.
#pragma once

#include <cstdint>
#include <string>

#include "format/result.h"
#include "tools/input/recording.h"
#include "tools/render/output.h"

namespace heaprec::tools {

// `recording` is at its start, and is read to its end. The number of samples.
format::Result<uint64_t> WriteSnapshot(Recording* recording, const std::string& reason, Output* output);

}  // namespace heaprec::tools
