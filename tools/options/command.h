// A command of heaprec as data: its options, bound to the variables that they set, and what it runs.
//
//   Command command("top", "Rank classes, sites, methods, threads, ... by bytes");
//   command.AddOption("--sort", options->sort, "Column to sort by").Value("COLUMN").OneOf({"bytes", "name"});
//   command.AddFlag("--json", options->json, "Print JSON");
//   command.run = [options](const Invocation&) { return Top(*options); };
//
// The parser, the help, the completions and the man pages read these declarations. Variables must outlive the command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tools/text/exit_code.h"

namespace heaprec::tools {

// Checks or stores a word; returns what is wrong with it ("'x' is not a number"), or "".
using WordRule = std::function<std::string(const std::string& word)>;

// An option, a flag or, without a leading dash, a positional argument.
struct Option {
  // What the help calls the value.
  Option& Value(std::string name) { return value = std::move(name), *this; }
  // The only words that it takes. A word that ends in a colon means all longer words that begin with it.
  Option& OneOf(std::vector<std::string> words);
  Option& Check(WordRule rule);
  Option& InRange(double least, double most);
  Option& Positive();
  Option& Required() { return is_required = true, *this; }
  Option& InGroup(std::string heading) { return group = std::move(heading), *this; }
  // Takes exactly so many words (of a list).
  Option& Exactly(size_t words) { return count = words, *this; }
  // "a,b" is two words (of a list).
  Option& SplitAtCommas() { return splits_at_commas = true, *this; }
  // A flag that cannot be combined with this one.
  Option& Excludes(std::string flag) { return excluded = std::move(flag), *this; }
  // `text`, and the choices that it does not name.
  std::string Help() const;

  std::vector<std::string> names;    // "-o", "--output"; of a positional argument its one name, "REC"
  std::string value;                 // "FILE"; empty: a flag
  std::string text;                  // what it does
  std::string group;                 // "Filters"; empty: of the command's own options
  std::vector<std::string> choices;  // empty: any word
  std::string excluded;
  std::vector<WordRule> rules;  // applied to each word in this order; the last one stores it
  std::function<void()> set;    // of a flag
  size_t count = 0;             // of a list: exactly this many words; 0: at least one
  bool is_help = false, is_positional = false, is_required = false, is_list = false, splits_at_commas = false;
};

struct CommandGroup;
using CommandGroups = std::vector<CommandGroup>;

// How a command was called.
struct Invocation {
  // The words after "--", unchanged; with `takes_command` also the words after the options.
  std::vector<std::string> rest;
  const CommandGroups& all;  // of heaprec
};

struct Command {
  // Has the option --help.
  Command(std::string its_name, std::string its_text);

  // `names`: "-o,--output", or a positional argument's ("REC"). T: std::string, std::vector<std::string>, a number, or
  // std::optional of one of the two scalars. Defined for the types that command.cc lists.
  template <typename T>
  Option& AddOption(const std::string& names, T& into, std::string text);
  Option& AddFlag(const std::string& names, bool& into, std::string text);
  // A percentage: "1%", "0.5 %" or "1"; stored as a fraction, from 0 to `most`.
  Option& AddPercent(const std::string& names, double& into, std::string text, double most = 1);
  // A duration (ParseDuration), in ns. T: uint64_t, or std::optional of it.
  template <typename T>
  Option& AddDuration(const std::string& names, T& into, std::string text, uint64_t least = 0,
                      uint64_t most = UINT64_MAX);

  std::string name, text;
  std::string footer;          // below the options: notes and examples
  std::deque<Option> options;  // references to them stay valid
  std::string operand;         // what follows "--": "java ..."; empty: nothing
  bool joins_parts = true;     // of a rotation that are given as REC; else each file is looked at by itself
  bool takes_command = false;  // its arguments are a command with options of its own: heaprec record -- java ...
  std::function<ExitCode(const Invocation&)> run;

 private:
  Option& Add(const std::string& names, std::string text);
};

// Commands that the help lists under one heading.
struct CommandGroup {
  std::string name;
  std::vector<Command> commands;
};

}  // namespace heaprec::tools
