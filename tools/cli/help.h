// What is generated from the declarations of the commands: help (at most 80 columns wide), completions, man pages.
#pragma once

#include <string>

#include "tools/options/command.h"

namespace heaprec::tools {

// Lists the commands by group.
std::string Help(const CommandGroups& groups);
// Returns the command's description, text, examples, usage, options and notes.
std::string Help(const Command& command);
// "heaprec top [OPTIONS] REC..."
std::string Usage(const Command& command);

// Commands that print what is generated from the declarations of all commands.
Command CompletionCommand();
Command ManCommand();

}  // namespace heaprec::tools
