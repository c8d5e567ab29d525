// Parts of a rotation, given to one command: they are joined first, as `heaprec merge` does, so that no command counts
// an object in each of them.
//
// Failure:  none: files that cannot be read or joined stay as they are, and the command says what is wrong.
#pragma once

#include <string>
#include <vector>

namespace heaprec::tools {

// Returns the files with parts of one recording that follow each other in place of the first of them, as one
// temporary file (tools/input/file_source.h). Reads the header of each file if there are several.
std::vector<std::string> JoinParts(const std::vector<std::string>& paths);

}  // namespace heaprec::tools
