// A command of heaprec as data: its options, bound to the variables that they set, and its function.
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
#include <string_view>
#include <utility>
#include <vector>

#include "tools/text/messages.h"

namespace heaprec::tools {

// Checks or stores a word; returns an error message ("'x' is not a number"), or "".
using WordRule = std::function<std::string(const std::string& word)>;

// An option, a flag or, without a leading dash, a positional argument.
struct Option {
  // Name of the value in the help.
  Option& Value(std::string name) { return value = std::move(name), *this; }
  // The only valid words. A word that ends in a colon allows all longer words that begin with it.
  Option& OneOf(std::vector<std::string> words);
  Option& Check(WordRule rule);
  Option& InRange(double least, double most);
  Option& Positive();
  Option& Required() { return is_required = true, *this; }
  Option& InGroup(std::string heading) { return group = std::move(heading), *this; }
  // Takes exactly this many words (for a list).
  Option& Exactly(size_t words) { return count = words, *this; }
  // "a,b" is two words (for a list).
  Option& SplitAtCommas() { return splits_at_commas = true, *this; }
  // A flag that cannot be combined with this one.
  Option& Excludes(std::string flag) { return excluded = std::move(flag), *this; }
  // Returns `text`, and the choices that it does not mention.
  std::string Help() const;

  std::vector<std::string> names;    // "-o", "--output"; for a positional argument its only name, "REC"
  std::string value;                 // "FILE"; empty: a flag
  std::string text;                  // description
  std::string group;                 // "Filters"; empty: the command's own options
  std::vector<std::string> choices;  // empty: any word
  std::string excluded;
  std::vector<WordRule> rules;  // applied to each word in this order; the last one stores it
  std::function<void()> set;    // for a flag
  size_t count = 0;             // for a list: exactly this many words; 0: at least one
  bool is_help = false, is_positional = false, is_required = false, is_list = false, splits_at_commas = false;
};

struct CommandGroup;
using CommandGroups = std::vector<CommandGroup>;

// The call of a command.
struct Invocation {
  // The words after "--", unchanged; with `takes_command` also the words after the options.
  std::vector<std::string> rest;
  const CommandGroups& all;  // all commands of heaprec
};

struct Command {
  // Always adds the option --help.
  Command(std::string its_name, std::string its_text);

  // `names`: "-o,--output", or for a positional argument "REC". T: std::string, std::vector<std::string>, a number, or
  // std::optional of a scalar. Defined for the types listed in command.cc.
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
  std::string operand;         // what follows after "--": "java ..."; empty: nothing
  bool joins_parts = true;     // joins the parts of a rotation that are given as REC; otherwise each file is separate
  bool takes_command = false;  // its arguments are a command with its own options: heaprec record -- java ...
  std::function<ExitCode(const Invocation&)> run;

 private:
  Option& Add(const std::string& names, std::string text);
};

// Commands under one heading of the help.
struct CommandGroup {
  std::string name;
  std::vector<Command> commands;
};

// Suggests a valid word for a mistyped one.

// Number of letters to remove, add or replace, and of neighbours to swap, to convert one text to the other (optimal
// string alignment).
size_t EditDistance(std::string_view a, std::string_view b);

// The candidate nearest to `word`; empty: none is near. At most a third of the letters may be mistyped (left out,
// added, replaced, or swapped with the next), but always one in a word of up to four letters and two in a longer word.
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

// `message`, and "; did you mean 'CANDIDATE'?" if one is near `word`.
std::string WithSuggestion(std::string message, std::string_view word, const std::vector<std::string>& candidates);

// Returns "message; hint", or "message? Hint" after a question.
std::string WithHint(std::string message, std::string hint);

}  // namespace heaprec::tools
