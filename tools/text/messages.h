// Prints one line on stderr, in the form of all messages of the command: "heaprec: what and where".
#pragma once

#include <string_view>

#include "tools/text/exit_code.h"

namespace heaprec::tools {

// Replaces invalid UTF-8 in it, for instance in a path.
void PrintError(std::string_view sentence);

// The same; returns `code`, for use in a return statement.
ExitCode Fail(ExitCode code, std::string_view sentence);

}  // namespace heaprec::tools
