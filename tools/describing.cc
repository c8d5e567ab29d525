// heaprec completion, heaprec man: what is generated from the declarations of all verbs.
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "tools/choice.h"
#include "tools/complain.h"
#include "tools/completions.h"
#include "tools/description.h"
#include "tools/man_page.h"
#include "tools/render/output.h"
#include "tools/suggest.h"
#include "tools/verb.h"

namespace heaprec::tools {
namespace {

ExitCode Say(const std::string& text) {
  Output output(STDOUT_FILENO);
  output.Append(text);
  output.Flush();
  return output.Report("standard output");
}

ExitCode ShowManPage(const CommandDescription& command, const std::string& name) {
  if (name.empty()) return Say(ManPage(command));
  std::vector<std::string> names;
  for (const VerbDescription& verb : command.verbs) {
    if (verb.name == name) return Say(ManPage(command, verb));
    names.push_back(verb.name);
  }
  const std::string meant = Nearest(name, names);
  Complain("man: no verb: " + name + (meant.empty() ? "" : "; did you mean " + meant + "?"));
  return ExitCode::kUsage;
}

}  // namespace

Verb DeclareCompletion(CLI::App& heaprec) {
  auto shell = std::make_shared<std::string>();
  CLI::App* verb = heaprec.add_subcommand("completion", "A script by which a shell completes verbs and options");
  verb->add_option("SHELL", *shell, "bash, zsh or fish")
      ->type_name("")
      ->check(OneOf({"bash", "zsh", "fish"}))
      ->required();
  verb->footer(R"(Examples:
  . <(heaprec completion bash)
  heaprec completion bash > /etc/bash_completion.d/heaprec
  heaprec completion zsh > ~/.zsh/completions/_heaprec
  heaprec completion fish > ~/.config/fish/completions/heaprec.fish)");
  return {verb, [shell, &heaprec](const auto&) {
            const CommandDescription command = Describe(heaprec);
            return Say(*shell == "bash"  ? BashCompletion(command)
                       : *shell == "zsh" ? ZshCompletion(command)
                                         : FishCompletion(command));
          }};
}

Verb DeclareMan(CLI::App& heaprec) {
  auto name = std::make_shared<std::string>();
  CLI::App* verb = heaprec.add_subcommand("man", "The man page of heaprec, or of a verb, for man -l");
  verb->add_option("VERB", *name, "Of this verb")->type_name("");
  verb->footer(R"(Examples:
  heaprec man top | man -l -
  heaprec man > /usr/local/share/man/man1/heaprec.1)");
  return {verb, [name, &heaprec](const auto&) { return ShowManPage(Describe(heaprec), *name); }};
}

}  // namespace heaprec::tools
