// A file that a process, which may be anyone's, has written as its recording.
//
// Threads:  any.
#pragma once

#include <cstdint>

#include "format/bytes/result.h"
#include "tools/input/descriptor.h"

namespace heaprec::tools {

// How many bytes there are to be read or copied, whatever its owner does with it now. The Error: it does not begin as a
// recording does, or has holes. An agent leaves none, and terabytes of them cost their owner nothing.
format::Result<uint64_t> RecordingBytes(const Descriptor& file);

}  // namespace heaprec::tools
