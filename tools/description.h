// The command line as data, for what is generated from it: completions and man pages.
//
// Context:  reads the application's declarations; call it when all verbs are declared.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace heaprec::tools {

struct OptionDescription {
  std::vector<std::string> names;  // "-o", "--output"; of a positional its one name
  std::string value;               // "FILE"; empty: a flag
  std::string text;
  std::string group;                 // "Which events"; empty: of the verb's own options
  std::vector<std::string> choices;  // the only values there are; empty: any
  bool is_positional = false, is_required = false, is_list = false;
};

struct VerbDescription {
  std::string name, text, footer;
  std::vector<OptionDescription> options;
};

struct CommandDescription {
  std::string name, text, footer;
  std::vector<OptionDescription> options;
  std::vector<VerbDescription> verbs;
};

CommandDescription Describe(const CLI::App& command);

}  // namespace heaprec::tools
