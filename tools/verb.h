// A verb of the command: declares its options on the application, and runs when it was chosen.
//
// A new verb is one file that defines one Declare function, and one line in main.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "tools/exit_code.h"

namespace heaprec::tools {

struct Verb {
  CLI::App* app = nullptr;  // owned by the application
  // With what followed "--" on the command line, untouched.
  std::function<ExitCode(const std::vector<std::string>& rest)> run;
};

// For messages: what is valid.
inline std::string OptionNames(const CLI::App& verb) {
  std::string names;
  for (const CLI::Option* option : verb.get_options([](const CLI::Option* o) { return o->nonpositional(); })) {
    names += (names.empty() ? "" : ", ") + option->get_name(false, true);
  }
  return names;
}

Verb DeclareAttach(CLI::App& heaprec);
Verb DeclareDump(CLI::App& heaprec);
Verb DeclareExport(CLI::App& heaprec);
Verb DeclareList(CLI::App& heaprec);
Verb DeclareMerge(CLI::App& heaprec);
Verb DeclarePrint(CLI::App& heaprec);
Verb DeclareRecord(CLI::App& heaprec);
Verb DeclareRecover(CLI::App& heaprec);
Verb DeclareRedact(CLI::App& heaprec);
Verb DeclareStatus(CLI::App& heaprec);
Verb DeclareStop(CLI::App& heaprec);
Verb DeclareSummary(CLI::App& heaprec);
Verb DeclareTrim(CLI::App& heaprec);
Verb DeclareVerify(CLI::App& heaprec);

}  // namespace heaprec::tools
