// Scripts by which shells complete commands, options and the values that options name.
//
// Context:  pure functions.
#pragma once

#include <string>

#include "tools/options/command.h"

namespace heaprec::tools {

std::string BashCompletion(const CommandGroups& groups);
std::string ZshCompletion(const CommandGroups& groups);
std::string FishCompletion(const CommandGroups& groups);

}  // namespace heaprec::tools
