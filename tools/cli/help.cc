#include "tools/cli/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "format/model/version.h"
#include "tools/options/command.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"

namespace heaprec::tools {
namespace {

constexpr size_t kWidth = 80;
// Columns at which commands of a group, their texts and the texts of options begin.
constexpr size_t kNames = 10, kTexts = 22, kOptionTexts = 28;
constexpr std::string_view kExamples = "Examples:\n";

// A command, and the first line of its help.
using Question = std::pair<std::string_view, std::string_view>;
constexpr std::array kQuestions{
    Question{"record", "What does a program allocate from its start to its end?"},
    Question{"attach", "What does a JVM that is already running allocate?"},
    Question{"stop", "How do I end a recording before its JVM exits?"},
    Question{"status", "Is a JVM being recorded, into which file, and is anything lost?"},
    Question{"list", "Which JVMs are running, and which of them are being recorded?"},
    Question{"dump", "How do I look at a recording while it continues?"},
    Question{"why", "Why did the process die, and what can I do about it?"},
    Question{"summary", "What was recorded, what stands out, and can I trust the numbers?"},
    Question{"top", "Which classes, sites, methods or threads allocate most?"},
    Question{"tree", "Who calls the code that allocates?"},
    Question{"report", "How do I explore a recording, or attach it to a ticket?"},
    Question{"view", "How do I browse a folder of recordings?"},
    Question{"flame", "Which stacks allocate, as a picture?"},
    Question{"timeline", "How did allocation, heap and collections change over time?"},
    Question{"histogram", "How large are the allocated objects?"},
    Question{"census", "How many objects of each class were allocated, exactly?"},
    Question{"print", "Which samples, collections and states are in a recording?"},
    Question{"diff", "What allocates more or less than before?"},
    Question{"check", "Does a program keep to its allocation budgets?"},
    Question{"bench", "Which of two commands allocates more, and where?"},
    Question{"escape", "How much does one call of a method allocate once it is compiled?"},
    Question{"live", "Which objects are live, how old are they, and how long do they live?"},
    Question{"leaks", "Is there a leak, and where are its objects allocated?"},
    Question{"native", "Which code allocates and holds native memory?"},
    Question{"ship", "How do I collect the recordings of many hosts?"},
    Question{"fleet", "Which service, version, host or site allocates most, over all hosts?"},
    Question{"paths", "What holds the objects that stay?"},
    Question{"trim", "How do I keep only a part of a recording?"},
    Question{"merge", "How do I put several recordings into one file?"},
    Question{"redact", "How do I share a recording without the names in it?"},
    Question{"recover", "How do I get one complete file after a crash or damage?"},
    Question{"export", "How do I open a recording with another tool?"},
    Question{"import", "How do I read a JFR file with heaprec?"},
    Question{"sql", "How do I query a recording beyond what the other commands show?"},
    Question{"doctor", "Can I trust the numbers, and if not, what can I do?"},
    Question{"verify", "Is a file damaged, or does it contradict itself?"},
    Question{"completion", "How do I complete commands and options in my shell?"},
    Question{"man", "How do I read or install the man pages?"},
};

std::string_view QuestionOf(const Command& command) {
  const auto found = std::ranges::find(kQuestions, command.name, &Question::first);
  return found == kQuestions.end() ? "" : found->second;
}

// Breaks text into lines that begin at `indent`; the first line already has `at` columns.
std::string Wrapped(std::string_view text, size_t indent, size_t at) {
  std::string wrapped;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (at > indent && at + word.size() + 1 > kWidth) {
      wrapped += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (at > indent) {
      wrapped += ' ';
      ++at;
    }
    wrapped += word;
    at += word.size();
  }
  return wrapped;
}

std::string OptionLines(const Option& option) {
  std::string line = "  " + fmt::format("{}", fmt::join(option.names, ", "));
  if (!option.value.empty() && !option.is_positional) line += " " + option.value;
  if (option.is_positional && option.is_list && option.count != 1) line += "...";
  if (line.size() + 2 > kOptionTexts) {
    line += "\n";
    line.append(kOptionTexts, ' ');
  } else {
    line.resize(kOptionTexts, ' ');
  }
  return line + Wrapped(option.Help(), kOptionTexts, kOptionTexts) + "\n";
}

std::string Options(const Command& command) {
  std::string arguments, own, groups, group;
  for (const Option& option : command.options) {
    if (option.group.empty()) {
      (option.is_positional ? arguments : own) += OptionLines(option);
      continue;
    }
    if (option.group != group) groups += fmt::format("\n{}:\n", option.group);
    group = option.group;
    groups += OptionLines(option);
  }
  if (!arguments.empty()) arguments = "\nArguments:\n" + arguments;
  return arguments + "\nOptions:\n" + own + groups;
}

}  // namespace

std::string Help(const CommandGroups& groups) {
  std::string help = "Usage: heaprec COMMAND [OPTIONS] ...      options and examples: COMMAND --help\n";
  for (const CommandGroup& group : groups) {
    for (const Command& command : group.commands) {
      const std::string heading = &command == &group.commands.front() ? group.name : "";
      help += fmt::format("{:<{}}{:<{}}{}\n", heading, kNames, command.name, kTexts - kNames, command.text);
    }
  }
  return help + "Start:    heaprec record -o app.hrec -- java -jar app.jar; heaprec top app.hrec\n";
}

std::string Usage(const Command& command) {
  std::string usage = fmt::format("heaprec {} [OPTIONS]", command.name);
  for (const Option& option : command.options) {
    if (!option.is_positional) continue;
    const std::string name = option.names.front() + (option.is_list && option.count != 1 ? "..." : "");
    usage += option.is_required ? " " + name : " [" + name + "]";
  }
  return command.operand.empty() ? usage : usage + " -- " + command.operand;
}

std::string Help(const Command& command) {
  const size_t examples_at = std::min(command.footer.find(kExamples), command.footer.size());
  const std::string notes = command.footer.substr(0, examples_at), examples = command.footer.substr(examples_at);
  std::string help = Wrapped(command.text, 0, 0) + "\n";
  if (const std::string_view question = QuestionOf(command); !question.empty()) {
    help = std::string(question) + "\n\n" + help;
  }
  if (!examples.empty()) help += "\n" + examples + "\n";
  help += "\nUsage: " + Usage(command) + "\n" + Options(command);
  if (!notes.empty()) help += "\n" + notes.substr(0, notes.find_last_not_of('\n') + 1) + "\n";
  return help;
}

// The commands that print what is generated from the declarations of all commands: completion and man.

namespace {

// Returns text that roff prints unchanged: nothing is an escape or, at the start of a line, a request.
std::string Escaped(std::string_view text) {
  std::string escaped;
  bool at_start = true;
  for (const char c : text) {
    if (at_start && (c == '.' || c == '\'')) escaped += "\\&";
    at_start = c == '\n';
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if (c == '\'') {
      escaped += "\\(aq";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string Upper(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return upper;
}

std::string Begin(const std::string& title, std::string_view text) {
  return fmt::format(".TH {} 1 \"\" \"heaprec {}\" \"heaprec\"\n.SH NAME\n{} \\- {}\n", Upper(title), kVersion,
                     Escaped(title), Escaped(text));
}

std::string Tagged(const std::string& tag, std::string_view text) {
  return fmt::format(".TP\n{}\n{}\n", tag, Escaped(text));
}

std::string OptionLine(const Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back("\\fB" + Escaped(name) + "\\fR");
  const std::string value =
      option.value.empty() || option.is_positional ? "" : " \\fI" + Escaped(option.value) + "\\fR";
  return fmt::format("{}{}", fmt::join(names, ", "), value);
}

std::string Options(const std::deque<Option>& options) {
  std::string text = ".SH OPTIONS\n", group;
  for (const Option& option : options) {
    if (option.group != group) text += fmt::format(".SS {}\n", Escaped(option.group));
    group = option.group;
    text += Tagged(OptionLine(option), option.Help());
  }
  return text;
}

std::string Notes(const std::string& footer) {
  return footer.empty() ? "" : fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", Escaped(footer));
}

constexpr const char* kExit = R"(.SH EXIT STATUS
.TP
0
success; also after throttling, counted losses or salvage, for a running recording, and if the pipe was closed
.TP
1
a check failed
.TP
2
wrong usage; the message lists the valid choices
.TP
3
unreadable: the file does not exist or is not a recording
.TP
4
damaged bytes were skipped; the rest was shown
.TP
5
cannot attach
.TP
6
cannot write the output
)";

std::string Joined(const std::vector<std::string>& words, std::string_view with) {
  return fmt::format("{}", fmt::join(words, with));
}

std::vector<std::string> OptionWords(const std::deque<Option>& options) {
  std::vector<std::string> words;
  for (const Option& option : options) {
    if (!option.is_positional) words.insert(words.end(), option.names.begin(), option.names.end());
  }
  return words;
}

// Returns all commands in the help.
std::vector<const Command*> All(const CommandGroups& groups) {
  std::vector<const Command*> all;
  for (const CommandGroup& group : groups) {
    for (const Command& command : group.commands) all.push_back(&command);
  }
  return all;
}

std::vector<std::string> CommandNames(const CommandGroups& groups) {
  std::vector<std::string> names;
  for (const Command* command : All(groups)) names.push_back(command->name);
  return names;
}

// Returns the first sentence, without characters that would end a quoted word.
std::string Plain(std::string_view text, std::string_view unwanted) {
  std::string plain;
  for (const char c : text.substr(0, text.find_first_of(";\n"))) {
    if (unwanted.find(c) == std::string_view::npos) plain += c;
  }
  return plain;
}

// "--sort|-s)": the words after which a value follows, and the valid values.
std::string BashValues(const Command& command) {
  std::string cases;
  for (const Option& option : command.options) {
    if (option.is_positional || option.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) patterns.push_back(command.name + ":" + name);
    const std::string values = option.choices.empty() ? ""
                                                      : fmt::format(" COMPREPLY=($(compgen -W '{}' -- \"$word\"));",
                                                                    Joined(option.choices, " "));
    cases += fmt::format("    {}){} return ;;\n", Joined(patterns, "|"), values);
  }
  return cases;
}

// "(class site label\:)": a colon would end the values.
std::string ZshValues(const std::vector<std::string>& choices) {
  if (choices.empty()) return "_files";
  std::string values;
  for (const char c : Joined(choices, " ")) values += c == ':' ? std::string("\\:") : std::string(1, c);
  return "(" + values + ")";
}

std::string ZshOption(const Option& option) {
  const std::string text = Plain(option.text, "'[]:\\");
  std::string action;
  if (!option.value.empty()) {
    action = fmt::format(":{}:{}", option.value, ZshValues(option.choices));
  }
  if (option.is_positional) {
    const char* const which = option.is_list ? "*" : "";
    return fmt::format(" \\\n        '{}:{}:{}'", which, Plain(option.names[0], "':"), ZshValues(option.choices));
  }
  std::string specs;
  for (const std::string& name : option.names) specs += fmt::format(" \\\n        '*{}[{}]{}'", name, text, action);
  return specs;
}

std::string FishOption(const std::string& command, const Option& option) {
  if (option.is_positional) {
    if (option.choices.empty()) return "";
    return fmt::format("complete -c heaprec -n '__fish_seen_subcommand_from {}' -f -a '{}'\n", command,
                       Joined(option.choices, " "));
  }
  std::string line = fmt::format("complete -c heaprec -n '__fish_seen_subcommand_from {}'", command);
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.value.empty()) line += " -r";
  if (!option.choices.empty()) line += fmt::format(" -f -a '{}'", Joined(option.choices, " "));
  return line + fmt::format(" -d '{}'\n", Plain(option.text, "'\\"));
}

std::string ManPage(const CommandGroups& groups) {
  std::string page = Begin("heaprec", "allocation profiler for HotSpot JVMs: records samples and analyses recordings");
  page += ".SH SYNOPSIS\n\\fBheaprec\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH COMMANDS\n";
  std::vector<std::string> pages;
  for (const CommandGroup& group : groups) {
    page += fmt::format(".SS {}\n", Escaped(group.name));
    for (const Command& command : group.commands) {
      page += Tagged("\\fB" + Escaped(command.name) + "\\fR", command.text);
      pages.push_back(fmt::format(".BR heaprec\\-{} (1)", Escaped(command.name)));
    }
  }
  return page + kExit + fmt::format(".SH SEE ALSO\n{}\n", fmt::join(pages, ",\n"));
}

std::string ManPage(const Command& command) {
  std::string page = Begin("heaprec-" + command.name, command.text);
  page += fmt::format(".SH SYNOPSIS\n{}\n", Escaped(Usage(command)));
  page += Options(command.options) + Notes(command.footer) + kExit;
  return page + ".SH SEE ALSO\n.BR heaprec (1)\n";
}

std::string BashCompletion(const CommandGroups& groups) {
  const std::string names = Joined(CommandNames(groups), " ");
  std::string values, options;
  for (const Command* const command : All(groups)) {
    values += BashValues(*command);
    options += fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$word\")) ;;\n", command->name,
                           Joined(OptionWords(command->options), " "));
    for (const Option& option : command->options) {
      if (!option.is_positional || option.choices.empty()) continue;
      values += fmt::format(
          "    {0}:{0}) if [[ $word != -* ]]; then COMPREPLY=($(compgen -W '{1}' -- \"$word\")); return; fi ;;\n",
          command->name, Joined(option.choices, " "));
    }
  }
  return fmt::format(R"(# bash completion of heaprec; `heaprec completion bash` wrote it.
_heaprec() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${{COMP_WORDS[i]}} in
    {}) command=${{COMP_WORDS[i]}}; break ;;
    esac
  done
  if [[ -z $command ]]; then
    COMPREPLY=($(compgen -W '{} {}' -- "$word"))
    return
  fi
  case $command:$before in
{}  esac
  if [[ $word == -* ]]; then
    case $command in
{}    esac
  fi
}}
complete -o default -F _heaprec heaprec
)",
                     Joined(CommandNames(groups), "|"), names, "--help --version", values, options);
}

std::string ZshCompletion(const CommandGroups& groups) {
  std::string names, cases;
  for (const Command* const command : All(groups)) {
    names += fmt::format("    '{}:{}'\n", command->name, Plain(command->text, "'\\"));
    std::string specs;
    for (const Option& option : command->options) specs += ZshOption(option);
    cases += fmt::format("    {})\n      _arguments{} ;;\n", command->name, specs);
  }
  return fmt::format(R"(#compdef heaprec
# zsh completion of heaprec; `heaprec completion zsh` wrote it.
_heaprec() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
if [ "$funcstack[1]" = "_heaprec" ]; then _heaprec "$@"; else compdef _heaprec heaprec; fi
)",
                     names, cases);
}

std::string FishCompletion(const CommandGroups& groups) {
  std::string script = "# fish completion of heaprec; `heaprec completion fish` wrote it.\n";
  for (const Command* const command : All(groups)) {
    script += fmt::format("complete -c heaprec -n __fish_use_subcommand -f -a {} -d '{}'\n", command->name,
                          Plain(command->text, "'\\"));
  }
  for (const Command* const command : All(groups)) {
    for (const Option& option : command->options) script += FishOption(command->name, option);
  }
  return script;
}

ExitCode Print(const std::string& text) { return WriteFile("-", true, text); }

ExitCode ShowManPage(const CommandGroups& groups, const std::string& name) {
  if (name.empty()) return Print(ManPage(groups));
  for (const Command* const command : All(groups)) {
    if (command->name == name) return Print(ManPage(*command));
  }
  return Fail(ExitCode::kUsage, WithSuggestion("man: unknown command '" + name + "'", name, CommandNames(groups)));
}

}  // namespace

Command CompletionCommand() {
  auto shell = std::make_shared<std::string>();
  Command command("completion", "Print a completion script for bash, zsh or fish");
  command.AddOption("SHELL", *shell, "bash, zsh or fish").OneOf({"bash", "zsh", "fish"}).Required();
  command.footer = R"(Examples:
  . <(heaprec completion bash)
  heaprec completion bash > /etc/bash_completion.d/heaprec
  heaprec completion zsh > ~/.zsh/completions/_heaprec
  heaprec completion fish > ~/.config/fish/completions/heaprec.fish)";
  command.run = [shell](const Invocation& call) {
    return Print(*shell == "bash"  ? BashCompletion(call.all)
                 : *shell == "zsh" ? ZshCompletion(call.all)
                                   : FishCompletion(call.all));
  };
  return command;
}

Command ManCommand() {
  auto name = std::make_shared<std::string>();
  Command command("man", "Print a man page");
  command.AddOption("COMMAND", *name, "Command to describe (default: heaprec itself)");
  command.footer = R"(Examples:
  heaprec man top | man -l -
  heaprec man > /usr/local/share/man/man1/heaprec.1)";
  command.run = [name](const Invocation& call) { return ShowManPage(call.all, *name); };
  return command;
}

}  // namespace heaprec::tools
