// Parts of one recording as one: what maxsize or maxage left in several files, and copies that dump made.
//
// Failure:  an Error of a part that cannot be read, or of the encoder; what was written is then of no use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/input/recording.h"
#include "tools/text/output.h"

namespace heaprec::tools {

// Writes everything that the parts have, each event once. Returns the number of samples.
Result<uint64_t> MergeParts(const std::vector<Recording*>& of_one, Output* output);

// Joins the parts of a rotation that are given to one command, so that it counts no object in each of them. Returns the
// files with parts of one recording that follow each other in place of the first of them, as one temporary file
// (tools/input/file_source.h). Files that cannot be read or joined stay as they are, and the command says what is
// wrong. Reads the header of each file if there are several.
std::vector<std::string> JoinParts(const std::vector<std::string>& paths);

}  // namespace heaprec::tools
