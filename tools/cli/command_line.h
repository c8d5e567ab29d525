// Parses the command line by the declarations of all commands and runs the chosen one.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "tools/options/command.h"

namespace heaprec::tools {

// The file that a word in a recording's place means; an Error: none, and why.
using RecordingNames = std::function<Result<std::string>(const std::string& word)>;

// Prints the help or the version where they are asked for. A usage error is one line on stderr that names what is
// valid: ExitCode::kUsage. A word
// that means no recording is ExitCode::kUnreadable; without `recording_names` each means itself.
ExitCode RunCommandLine(int argc, char** argv, const CommandGroups& groups, RecordingNames recording_names = {});

}  // namespace heaprec::tools
