#include "tools/cli/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

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

}  // namespace heaprec::tools
