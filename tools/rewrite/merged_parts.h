// Merges parts of one recording: several files due to maxsize or maxage, and copies made by dump.
//
// Failure:  an Error for a part that cannot be read, or from the encoder; the output is then unusable.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/input/recording.h"
#include "tools/text/output.h"

namespace heaprec::tools {

// Writes everything in the parts, each event once. Returns the number of samples.
Result<uint64_t> MergeParts(const std::vector<Recording*>& of_one, Output* output);

// Joins the parts of a rotation that are given to one command, so that objects are not counted once per part.
// Consecutive parts of a recording are replaced by one temporary file (tools/input/file_source.h). Files that cannot be
// read or joined stay unchanged, and the command reports the error. Reads the header of each file if there are several.
std::vector<std::string> JoinParts(const std::vector<std::string>& paths);

}  // namespace heaprec::tools
