// Parts of one recording as one: what maxsize or maxage left in several files, and copies that dump made.
//
// Threads:  one.
// Failure:  an Error of a part that cannot be read, or of the encoder; what was written is then of no use.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "tools/input/recording.h"
#include "tools/text/output.h"

namespace heaprec::tools {

// Writes what they have between them once. Returns the number of samples.
Result<uint64_t> MergeParts(const std::vector<Recording*>& of_one, Output* output);

}  // namespace heaprec::tools
