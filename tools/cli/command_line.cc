#include "tools/cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/model/version.h"
#include "tools/cli/help.h"
#include "tools/options/command.h"
#include "tools/rewrite/recording_editor.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"

namespace heaprec::tools {
namespace {

// Why a word in place of a recording is not one; empty: all are. Reported after all words have been parsed.
using NoRecording = std::string;

// CLI11 assigns words to options; the option's own rules interpret them.
void Take(const Option& option, const std::vector<std::string>& words, const RecordingNames& recording_names,
          NoRecording* none) {
  const bool is_recording = option.is_positional && (option.names.back() == "REC" || option.names.back() == "FILE");
  const auto apply = [&](std::string word) {
    if (is_recording && recording_names) {
      auto named = recording_names(word);
      if (!named.ok()) {
        if (none->empty()) *none = named.error().message;
        return;
      }
      word = std::move(*named);
    }
    for (const WordRule& rule : option.rules) {
      const std::string wrong = rule(word);
      if (!wrong.empty()) throw CLI::ValidationError(option.names.back(), wrong);
    }
  };
  for (const std::string& word : words) {
    if (option.splits_at_commas) {
      for (const std::string& part : CLI::detail::split(word, ',')) {
        if (!part.empty()) apply(part);
      }
    } else {
      apply(word);
    }
  }
}

void Declare(const Option& option, bool joins_parts, const RecordingNames& recording_names, NoRecording* none,
             CLI::App* app) {
  if (option.is_help) return;  // CLI11 has its own
  const std::string names = fmt::format("{}", fmt::join(option.names, ","));
  if (option.set) {
    app->add_flag_callback(names, option.set);
    return;
  }
  const bool joins = option.is_list && option.names.front() == "REC" && joins_parts;
  CLI::Option* const added =
      app->add_option(names, [&option, &recording_names, none, joins](const CLI::results_t& words) {
        Take(option, joins ? JoinParts(words) : words, recording_names, none);
        return true;
      });
  const int count = static_cast<int>(option.count);
  if (option.is_list) added->expected(std::max(count, 1), count > 0 ? count : CLI::detail::expected_max_vector_size);
  // "--label a=b rec.hrec" is one label and a recording.
  if (option.is_list) added->allow_extra_args(option.is_positional && count == 0);
  added->required(option.is_required);
}

// Names the nearest valid word or, if none is near, all of them.
std::string UnknownWord(const char* what, const std::string& word, const std::vector<std::string>& valid) {
  const std::string message = fmt::format("unknown {} '{}'", what, word);
  std::string suggestion = WithSuggestion(message, word.substr(0, word.find('=')), valid);
  return suggestion != message ? suggestion : fmt::format("{}; {}s: {}", message, what, fmt::join(valid, ", "));
}

std::string UnknownOption(const Command& command, const std::string& word) {
  std::vector<std::string> valid;
  for (const Option& option : command.options) {
    if (!option.is_positional) valid.push_back(option.names.back());
  }
  return UnknownWord("option", word, valid);
}

// Which option has the wrong number of values. `last_word`: only there an option can lack its only value.
std::string Mismatch(const CLI::App& app, const char* last_word) {
  const std::string is_missing = ": a value is missing";
  for (const CLI::Option* const option : app.get_options()) {
    const int given = static_cast<int>(option->count());
    if (given > std::max(option->get_items_expected_max(), 1)) return option->get_name() + " is given more than once";
    if (given > 0 && given < option->get_items_expected_min()) return option->get_name() + is_missing;
  }
  const CLI::Option* const last = app.get_option_no_throw(last_word);
  return (last != nullptr ? last->get_name() : last_word) + is_missing;
}

class CommandLine {
 public:
  CommandLine(const CommandGroups& groups, RecordingNames recording_names)
      : groups_(groups), recording_names_(std::move(recording_names)), app_("", "heaprec") {
    app_.set_version_flag("--version", fmt::format("heaprec {}\n", kVersion));
    app_.require_subcommand(0, 1);
    for (const CommandGroup& group : groups) {
      for (const Command& command : group.commands) Add(command);
    }
  }

  ExitCode Run(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "help") {
      // "heaprec help top" is "heaprec top --help"
      std::string option = "--help";
      std::vector<char*> words{argv + 1, argv + argc};
      std::ranges::rotate(words, words.begin() + 1);
      words.back() = option.data();
      words.insert(words.begin(), argv[0]);
      return Run(static_cast<int>(words.size()), words.data());
    }
    std::vector<char*> words(argv, argv + argc);
    // After "--" follows a command with its own options.
    auto mark = std::ranges::find(words, "--", [](const char* word) { return std::string_view(word); });
    std::vector<std::string> rest(mark == words.end() ? mark : mark + 1, words.end());
    words.erase(mark, words.end());
    if (argc > 1 && !TakesOperand(argv[1])) {
      // In other commands "--" is followed by files, whatever their names begin with. An option just before "--" must
      // not take one of them as its value.
      const ptrdiff_t behind = NeedsValue(argv[1], words.back()) ? 1 : 0;
      for (std::string& file : rest) {
        if (file.size() > 1 && file.starts_with('-')) file.insert(0, "./");
        words.insert(words.end() - behind, file.data());
      }
    }
    try {
      app_.parse(static_cast<int>(words.size()), words.data());
    } catch (const CLI::CallForHelp&) {
      const Added* const matched = Chosen();
      if (matched == nullptr && !app_.remaining().empty()) return RefuseExtraWord();
      return WriteFile("-", true, matched != nullptr ? Help(*matched->command) : Help(groups_));
    } catch (const CLI::CallForVersion& version) {
      return WriteFile("-", true, version.what());
    } catch (const CLI::ExtrasError&) {
      return RefuseExtraWord();
    } catch (const CLI::ArgumentMismatch&) {
      return Refuse(Mismatch(Chosen() != nullptr ? *Chosen()->app : app_, words.back()));
    } catch (const CLI::ParseError& error) {
      return Refuse(error.what());
    }
    if (Chosen() == nullptr) return Refuse("no command");
    if (!none_.empty()) return Fail(ExitCode::kUnreadable, none_);
    const Added& matched = *Chosen();
    if (!TakesOperand(matched.command->name)) rest.clear();
    std::vector<std::string> before = matched.app->remaining();
    if (!before.empty() && before.front().starts_with('-')) return RefuseExtraWord();
    if (!before.empty() && !rest.empty()) before.emplace_back("--");
    rest.insert(rest.begin(), before.begin(), before.end());
    return matched.command->run({std::move(rest), groups_});
  }

 private:
  struct Added {
    const Command* command;
    CLI::App* app;
  };

  void Add(const Command& command) {
    CLI::App* const app = app_.add_subcommand(command.name);
    for (const Option& option : command.options) Declare(option, command.joins_parts, recording_names_, &none_, app);
    for (const Option& option : command.options) {
      if (!option.excluded.empty()) app->get_option(option.names.back())->excludes(app->get_option(option.excluded));
    }
    if (command.takes_command) app->prefix_command();
    added_.push_back({&command, app});
  }

  const Added* Named(std::string_view name) const {
    const auto named = std::ranges::find_if(added_, [&](const Added& one) { return one.command->name == name; });
    return named == added_.end() ? nullptr : &*named;
  }
  bool TakesOperand(std::string_view name) const {
    const Added* const named = Named(name);
    return named == nullptr || !named->command->operand.empty();
  }
  // Whether the word is an option of the command that needs a value.
  bool NeedsValue(std::string_view name, const char* word) const {
    const CLI::Option* const option = Named(name)->app->get_option_no_throw(word);
    return option != nullptr && option->get_items_expected_min() > 0;
  }

  const Added* Chosen() const {
    const auto matched = std::find_if(added_.begin(), added_.end(), [](const Added& one) { return one.app->parsed(); });
    return matched == added_.end() ? nullptr : &*matched;
  }

  // Reports a word that is not an option, argument or command.
  ExitCode RefuseExtraWord() const {
    const Added* const matched = Chosen();
    std::vector<std::string> words = matched != nullptr ? matched->app->remaining() : std::vector<std::string>();
    if (words.empty()) {  // the word is before the command
      words = app_.remaining();
      if (words.empty()) return Refuse("unexpected argument");
      if (matched != nullptr) return Refuse(fmt::format("'{}' must follow the command", words.front()));
      if (words.front().starts_with('-')) return Refuse(UnknownWord("option", words.front(), {"--help", "--version"}));
      std::vector<std::string> names;
      for (const Added& one : added_) names.push_back(one.command->name);
      return Refuse(UnknownWord("command", words.front(), names));
    }
    const auto option = std::ranges::find_if(words, [](const std::string& word) { return word.starts_with('-'); });
    return Refuse(option != words.end() ? UnknownOption(*matched->command, *option)
                                        : fmt::format("unexpected argument '{}'", words.front()));
  }

  ExitCode Refuse(const std::string& why) const {
    const Added* const matched = Chosen();
    const std::string name = matched != nullptr ? matched->command->name : "";
    return Fail(ExitCode::kUsage, name.empty() ? WithHint(why, "see 'heaprec --help'")
                                               : WithHint(name + ": " + why, "see 'heaprec " + name + " --help'"));
  }

  const CommandGroups& groups_;
  const RecordingNames recording_names_;
  NoRecording none_;
  CLI::App app_;
  std::vector<Added> added_;
};

}  // namespace

ExitCode RunCommandLine(int argc, char** argv, const CommandGroups& groups, RecordingNames recording_names) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe then is an error of write, without a message
  return CommandLine(groups, std::move(recording_names)).Run(argc, argv);
}

}  // namespace heaprec::tools
