// Scripts by which shells complete verbs, options and the values that options name.
//
// Context:  pure functions.
#pragma once

#include <string>

#include "tools/description.h"

namespace heaprec::tools {

std::string BashCompletion(const CommandDescription& command);
std::string ZshCompletion(const CommandDescription& command);
std::string FishCompletion(const CommandDescription& command);

}  // namespace heaprec::tools
