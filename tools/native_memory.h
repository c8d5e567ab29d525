// heaprec native --categories: what a recorded JVM had in memory beside its heap, over time.
#pragma once

#include <cstddef>
#include <string>

#include "tools/exit_code.h"

namespace heaprec::tools {

struct MemoryQuestion {
  std::string file;
  size_t limit = 20;  // looks; 0: all
  bool json = false;
};

ExitCode ShowMemory(const MemoryQuestion& question);

}  // namespace heaprec::tools
