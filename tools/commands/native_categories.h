// heaprec native --categories: what a recorded JVM had in memory beside its heap, over time.
#pragma once

#include <cstddef>
#include <string>

#include "tools/text/exit_code.h"

namespace heaprec::tools {

struct MemoryQuestion {
  std::string file;
  size_t limit = 20;  // looks; 0: all
  bool json = false;
  // Behind the file's name: why not what was asked for, in place of which this is shown. Empty: this was asked for.
  std::string in_place_of = "";
};

// kUnreadable, too, if it is in the place of something else and nobody looked at the process.
ExitCode ShowMemory(const MemoryQuestion& question);

}  // namespace heaprec::tools
