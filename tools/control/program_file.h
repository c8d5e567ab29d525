// Which file becomes the process when a command is run, and whether a library can be preloaded into it.
//
// Failure:  a sentence for the user: statically linked, of another machine, with another user's rights, with a
//           sanitizer's malloc.
#pragma once

#include <string>

#include "base/result.h"

namespace heaprec::tools {

// `path`: where the command was found. That of a script is its interpreter. What cannot be read is left to whoever
// starts it.
Result<std::string> PreloadableProgram(const std::string& path);

}  // namespace heaprec::tools
