#include "tools/cli/generate.h"

#include <algorithm>
#include <memory>

#include "tools/cli/man_page.h"
#include "tools/cli/shell_completion.h"
#include "tools/options/suggest.h"
#include "tools/text/messages.h"
#include "tools/text/output_file.h"

namespace heaprec::tools {
namespace {

ExitCode Print(const std::string& text) { return WriteFile("-", true, text); }

ExitCode ShowManPage(const CommandGroups& groups, const std::string& name) {
  if (name.empty()) return Print(ManPage(groups));
  std::vector<std::string> names;
  for (const CommandGroup& group : groups) {
    for (const Command& command : group.commands) {
      if (command.name == name) return Print(ManPage(command));
      names.push_back(command.name);
    }
  }
  return Fail(ExitCode::kUsage, WithSuggestion("man: unknown command '" + name + "'", name, names));
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
