// Parses the command line from the declarations of all commands and runs the chosen one.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "tools/options/command.h"

namespace heaprec::tools {

// Returns the file that a word in place of a recording refers to, or an Error with the reason.
using RecordingNames = std::function<Result<std::string>(const std::string& word)>;

// Prints the help or the version if requested. A usage error is one line on stderr that names what is valid:
// ExitCode::kUsage. A word that does not refer to a recording: ExitCode::kUnreadable; without `recording_names` each
// word is a file name.
ExitCode RunCommandLine(int argc, char** argv, const CommandGroups& groups, RecordingNames recording_names = {});

}  // namespace heaprec::tools
