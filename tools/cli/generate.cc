// The commands that print what is generated from the declarations of all commands: completion and man.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string_view>

#include "format/model/version.h"
#include "tools/cli/help.h"
#include "tools/options/suggest.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"

namespace heaprec::tools {
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
