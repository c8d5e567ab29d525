// Files of one recording (rotate, or a file that was moved away while it was written): which belong together.
//
// Failure:  none: a file that cannot be read stands alone, and the command that opens it says why.
// Format:   docs/format/recording.md#parts
#pragma once

#include <string>
#include <vector>

namespace heaprec::tools {

// Returns the files in groups: parts of one recording that follow each other, in their order, where the first of them
// was given; every other file alone. Reads the header of each file if there are several.
std::vector<std::vector<std::string>> JoinParts(const std::vector<std::string>& paths);

}  // namespace heaprec::tools
