// A verb of the command: declares its options on the application, and runs when it was chosen.
//
// A new verb is one file that defines one Declare function, a line in verbs.h and one in main.cc.
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

}  // namespace heaprec::tools
