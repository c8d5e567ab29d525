// One line on stderr, in the form all of the command's messages have: "heaprec: what and where".
#pragma once

#include <string_view>

#include "tools/text/exit_code.h"

namespace heaprec::tools {

// What is not UTF-8 in it, a path or a name, is replaced.
void PrintError(std::string_view sentence);

// The same; returns `code`, as the last words of a command.
ExitCode Fail(ExitCode code, std::string_view sentence);

}  // namespace heaprec::tools
