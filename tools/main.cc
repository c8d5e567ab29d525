// heaprec: makes and reads recordings of Java heap allocations. docs/reference/commands.md
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include "format/version.h"
#include "tools/complain.h"
#include "tools/render/output.h"
#include "tools/suggest.h"
#include "tools/verbs.h"

namespace heaprec::tools {
namespace {

// "; did you mean --limit?", if something is near.
std::string Meant(const std::string& word, const std::vector<std::string>& valid) {
  const std::string nearest = Nearest(word.substr(0, word.find('=')), valid);
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

// For the first option that the verb does not have.
std::string MeantOption(const CLI::App& verb) {
  std::vector<std::string> valid;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) valid.push_back("--" + name);
  }
  for (const std::string& word : verb.remaining()) {
    if (word.starts_with("--")) return Meant(word, valid);
  }
  return "";
}

ExitCode Usage(const CLI::App& heaprec, const std::vector<Verb>& verbs, const CLI::ParseError& error) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) {
    names.push_back(verb.app->get_name());
    if (!verb.app->parsed()) continue;
    Complain(fmt::format("{}: {}{}; options of {}: {}", names.back(), error.what(), MeantOption(*verb.app),
                         names.back(), OptionNames(*verb.app)));
    return ExitCode::kUsage;
  }
  const std::vector<std::string> rest = heaprec.remaining();
  const std::string what =
      rest.empty() ? error.what() : fmt::format("no verb: {}{}", rest.front(), Meant(rest.front(), names));
  Complain(fmt::format("{}; verbs: {}; try heaprec --help", what, fmt::join(names, ", ")));
  return ExitCode::kUsage;
}

ExitCode Say(const std::string& text) {
  Output output(STDOUT_FILENO);
  output.Append(text);
  output.Flush();
  return output.Report("standard output");
}

ExitCode Main(int argc, char** argv) {
  CLI::App heaprec("Records the heap allocations of JVMs, and reads the recordings.", "heaprec");
  heaprec.set_version_flag("--version", fmt::format("heaprec {}\n", kVersion));
  heaprec.footer("heaprec VERB --help has the options and examples of each verb.");
  heaprec.require_subcommand(1);
  const std::vector<Verb> verbs{
      DeclareRecord(heaprec), DeclareAttach(heaprec), DeclareStatus(heaprec),     DeclareDump(heaprec),
      DeclareStop(heaprec),   DeclareList(heaprec),   DeclarePrint(heaprec),      DeclareSummary(heaprec),
      DeclareTop(heaprec),    DeclareTree(heaprec),   DeclareHistogram(heaprec),  DeclareTimeline(heaprec),
      DeclareFlame(heaprec),  DeclareDiff(heaprec),   DeclareCheck(heaprec),      DeclareExport(heaprec),
      DeclareImport(heaprec), DeclareVerify(heaprec), DeclareRecover(heaprec),    DeclareTrim(heaprec),
      DeclareMerge(heaprec),  DeclareRedact(heaprec), DeclareCompletion(heaprec), DeclareMan(heaprec),
      DeclareSql(heaprec),    DeclareDoctor(heaprec), DeclareLive(heaprec),       DeclareLeaks(heaprec),
      DeclareEscape(heaprec), DeclareNative(heaprec), DeclareCensus(heaprec)};
  // What follows "--" is a command of its own, whose options are none of ours.
  char** const end = argv + argc;
  char** const mark = std::find_if(argv, end, [](const char* word) { return std::string_view(word) == "--"; });
  const std::vector<std::string> rest(mark == end ? end : mark + 1, end);
  try {
    heaprec.parse(static_cast<int>(mark - argv), argv);
  } catch (const CLI::CallForHelp&) {
    return Say(heaprec.help());
  } catch (const CLI::CallForVersion& version) {
    return Say(version.what());
  } catch (const CLI::ParseError& error) {
    return Usage(heaprec, verbs, error);
  }
  const auto chosen = std::find_if(verbs.begin(), verbs.end(), [](const Verb& verb) { return verb.app->parsed(); });
  return chosen->run(rest);
}

}  // namespace
}  // namespace heaprec::tools

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write, and ends quietly
  return static_cast<int>(heaprec::tools::Main(argc, argv));
}
