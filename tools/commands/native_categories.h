// heaprec native --categories: what a recorded JVM had in memory beside its heap, over time.
#pragma once

#include <string>

#include "tools/render/print.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools {

struct MemoryQuery {
  std::string file;
  render::OutputOptions output;
  // After the file's name: why not what was asked for, instead of which this is shown. Empty: this was asked for.
  std::string instead_of = "";
};

// kUnreadable, too, if it is shown instead of something else and there are no snapshots.
ExitCode ShowMemory(const MemoryQuery& query);

}  // namespace heaprec::tools
