// Calls of methods in JVMs of their own, one for each mode of the compiler, whose allocations java/heaprec/Escape.java
// counts.
//
// Failure:  says on stderr what failed; returns the exit code for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/query/allocations/escape_result.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools {

struct EscapeRuns {
  std::vector<std::string> methods;  // package.Class.method
  std::vector<std::string> command;  // java and its options
  uint64_t calls = 30'000, probes = 200;
  std::string agent_file, jar_file;

  // `modes`: as EscapeModes(). What cannot be called in the first has its error in all.
  ExitCode Run(std::vector<CallOutcomes>* modes) const;
};

}  // namespace heaprec::tools
