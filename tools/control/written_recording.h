// A file that a process, which may be anyone's, has written as its recording.
//
// Threads:  any.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "tools/input/confined_open.h"

namespace heaprec::tools {

// Returns how many bytes to read or copy; what its owner adds later does not count. Fails if the file does not begin
// like a recording or is sparse: an agent leaves no holes, and a sparse file of terabytes costs its owner nothing.
Result<uint64_t> RecordingBytes(const Descriptor& file);

}  // namespace heaprec::tools
