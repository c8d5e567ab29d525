// Man pages of the command and its verbs, in roff's man macros.
//
// Context:  pure functions.
#pragma once

#include <string>

#include "tools/description.h"

namespace heaprec::tools {

std::string ManPage(const CommandDescription& command);
std::string ManPage(const CommandDescription& command, const VerbDescription& verb);

}  // namespace heaprec::tools
