// Where the numbers of an export come from and what they lack, as lines for formats that have room for remarks.
#pragma once

#include <string>
#include <vector>

#include "tools/input/recording.h"

namespace heaprec::tools {

// After the recording was read. `streams`: those that were exported.
std::vector<std::string> Provenance(const Recording& recording, const std::vector<format::Stream>& streams);

// The time that the file covers: from its start to its end, or to the last block.
struct Span {
  uint64_t begin_ns = 0, end_ns = 0;
};
Span SpanOf(const Recording& recording, uint64_t last_block_ns);

}  // namespace heaprec::tools
