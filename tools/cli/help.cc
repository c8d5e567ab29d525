#include "tools/cli/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace heaprec::tools {
namespace {

constexpr size_t kWidth = 80;
// Where the commands of a group, their texts and the texts of options begin.
constexpr size_t kNames = 10, kTexts = 22, kOptionTexts = 28;
constexpr std::string_view kExamples = "Examples:\n";

// Words in lines that begin at `indent`; the first line continues one of `at` columns.
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
  if (option.is_positional && option.is_list) line += "...";
  if (line.size() + 2 > kOptionTexts) {
    line += "\n";
    line.append(kOptionTexts, ' ');
  } else {
    line.resize(kOptionTexts, ' ');
  }
  std::string text = option.text;
  if (!option.choices.empty()) text += fmt::format(" [{}]", fmt::join(option.choices, ", "));
  return line + Wrapped(text, kOptionTexts, kOptionTexts) + "\n";
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
  return help + R"(
Start with: heaprec record -o app.hrec -- java -jar app.jar
            heaprec top app.hrec
)";
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
  if (!examples.empty()) help += "\n" + examples + "\n";
  help += "\nUsage: " + Usage(command) + "\n" + Options(command);
  if (!notes.empty()) help += "\n" + notes.substr(0, notes.find_last_not_of('\n') + 1) + "\n";
  return help;
}

}  // namespace heaprec::tools
