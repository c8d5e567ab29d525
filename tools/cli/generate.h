// The commands whose output is generated from the declarations of all commands.
#pragma once

#include <string>

#include "tools/options/command.h"

namespace heaprec::tools {

Command CompletionCommand();
Command ManCommand();

}  // namespace heaprec::tools
