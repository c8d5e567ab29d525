// What a command that reads recordings takes for the name of one.
//
// Threads:  one.
// Failure:  a sentence for the user, which says how to get a recording.
#pragma once

#include <string>

#include "format/bytes/result.h"

namespace heaprec::tools {

// The file that `word` means: itself, or if no file has this name and it is the PID of a JVM, the one into which that
// JVM is being recorded.
format::Result<std::string> NamedRecording(const std::string& word);

}  // namespace heaprec::tools
