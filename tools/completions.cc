#include "tools/completions.h"

#include <fmt/format.h>

#include <string_view>

namespace heaprec::tools {
namespace {

std::string Joined(const std::vector<std::string>& words, std::string_view with) {
  return fmt::format("{}", fmt::join(words, with));
}

std::vector<std::string> OptionWords(const std::vector<OptionDescription>& options) {
  std::vector<std::string> words;
  for (const OptionDescription& option : options) {
    if (!option.is_positional) words.insert(words.end(), option.names.begin(), option.names.end());
  }
  return words;
}

std::vector<std::string> VerbWords(const CommandDescription& command) {
  std::vector<std::string> words;
  for (const VerbDescription& verb : command.verbs) words.push_back(verb.name);
  return words;
}

// The first sentence, without what would end a quoted word.
std::string Plain(std::string_view text, std::string_view unwanted) {
  std::string plain;
  for (const char c : text.substr(0, text.find_first_of(";\n"))) {
    if (unwanted.find(c) == std::string_view::npos) plain += c;
  }
  return plain;
}

// "--sort|-s)": after which word a value stands, and which values there are.
std::string BashValues(const VerbDescription& verb) {
  std::string cases;
  for (const OptionDescription& option : verb.options) {
    if (option.is_positional || option.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) patterns.push_back(verb.name + ":" + name);
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

std::string ZshOption(const OptionDescription& option) {
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

std::string FishOption(const std::string& verb, const OptionDescription& option) {
  if (option.is_positional) {
    if (option.choices.empty()) return "";
    return fmt::format("complete -c heaprec -n '__fish_seen_subcommand_from {}' -f -a '{}'\n", verb,
                       Joined(option.choices, " "));
  }
  std::string line = fmt::format("complete -c heaprec -n '__fish_seen_subcommand_from {}'", verb);
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.value.empty()) line += " -r";
  if (!option.choices.empty()) line += fmt::format(" -f -a '{}'", Joined(option.choices, " "));
  return line + fmt::format(" -d '{}'\n", Plain(option.text, "'\\"));
}

}  // namespace

std::string BashCompletion(const CommandDescription& command) {
  const std::string verbs = Joined(VerbWords(command), " ");
  std::string values, options;
  for (const VerbDescription& verb : command.verbs) {
    values += BashValues(verb);
    options += fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$word\")) ;;\n", verb.name,
                           Joined(OptionWords(verb.options), " "));
    for (const OptionDescription& option : verb.options) {
      if (!option.is_positional || option.choices.empty()) continue;
      values += fmt::format(
          "    {0}:{0}) if [[ $word != -* ]]; then COMPREPLY=($(compgen -W '{1}' -- \"$word\")); return; fi ;;\n",
          verb.name, Joined(option.choices, " "));
    }
  }
  return fmt::format(R"(# bash completion of heaprec; `heaprec completion bash` wrote it.
_heaprec() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} verb= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${{COMP_WORDS[i]}} in
    {}) verb=${{COMP_WORDS[i]}}; break ;;
    esac
  done
  if [[ -z $verb ]]; then
    COMPREPLY=($(compgen -W '{} {}' -- "$word"))
    return
  fi
  case $verb:$before in
{}  esac
  if [[ $word == -* ]]; then
    case $verb in
{}    esac
  fi
}}
complete -o default -F _heaprec heaprec
)",
                     Joined(VerbWords(command), "|"), verbs, Joined(OptionWords(command.options), " "), values,
                     options);
}

std::string ZshCompletion(const CommandDescription& command) {
  std::string verbs, cases;
  for (const VerbDescription& verb : command.verbs) {
    verbs += fmt::format("    '{}:{}'\n", verb.name, Plain(verb.text, "'\\"));
    std::string specs;
    for (const OptionDescription& option : verb.options) specs += ZshOption(option);
    cases += fmt::format("    {})\n      _arguments{} ;;\n", verb.name, specs);
  }
  return fmt::format(R"(#compdef heaprec
# zsh completion of heaprec; `heaprec completion zsh` wrote it.
_heaprec() {{
  local -a verbs
  verbs=(
{}  )
  if (( CURRENT == 2 )); then
    _describe 'verb' verbs
    return
  fi
  local verb=$words[2]
  shift words
  (( CURRENT-- ))
  case $verb in
{}  esac
}}
if [ "$funcstack[1]" = "_heaprec" ]; then _heaprec "$@"; else compdef _heaprec heaprec; fi
)",
                     verbs, cases);
}

std::string FishCompletion(const CommandDescription& command) {
  std::string script = "# fish completion of heaprec; `heaprec completion fish` wrote it.\n";
  for (const VerbDescription& verb : command.verbs) {
    script += fmt::format("complete -c heaprec -n __fish_use_subcommand -f -a {} -d '{}'\n", verb.name,
                          Plain(verb.text, "'\\"));
  }
  for (const VerbDescription& verb : command.verbs) {
    for (const OptionDescription& option : verb.options) script += FishOption(verb.name, option);
  }
  return script;
}

}  // namespace heaprec::tools
