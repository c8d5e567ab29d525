// A verb of the command: declares its options on the application, and runs when it was chosen.
//
// A new verb is one file that defines one Declare function, and one line in main.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "tools/exit_code.h"

namespace heaprec::tools {

struct Verb {
  CLI::App* app = nullptr;  // owned by the application
  std::function<ExitCode()> run;
};

Verb DeclareExport(CLI::App& heaprec);
Verb DeclarePrint(CLI::App& heaprec);
Verb DeclareSummary(CLI::App& heaprec);

}  // namespace heaprec::tools
