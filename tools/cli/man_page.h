// Man pages of heaprec and its commands, in roff's man macros.
//
// Context:  pure functions.
#pragma once

#include <string>

#include "tools/options/command.h"

namespace heaprec::tools {

std::string ManPage(const CommandGroups& groups);
std::string ManPage(const Command& command);

}  // namespace heaprec::tools
