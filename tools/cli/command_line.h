// Parses the command line by the declarations of all commands and runs the chosen one.
//
// Threads:  one.
#pragma once

#include "tools/options/command.h"

namespace heaprec::tools {

// Prints the help or the version where they are asked for. A usage error is one line on stderr that names what is
// valid: ExitCode::kUsage.
ExitCode RunCommandLine(int argc, char** argv, const CommandGroups& groups);

}  // namespace heaprec::tools
