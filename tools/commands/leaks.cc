// heaprec leaks: which sites hold more and more.
#include <memory>
#include <optional>

#include "tools/commands/live_options.h"
#include "tools/options/command.h"
#include "tools/report/leaks_report.h"

namespace heaprec::tools {
namespace {

constexpr size_t kRows = 20;

struct LeaksOptions {
  LivingOptions living;
  std::optional<uint64_t> survived;
  std::optional<size_t> limit;
  double fdr = 0.05;
  bool all = false;
};

ExitCode ShowLeaks(const LeaksOptions& options) {
  LiveQuestion question;
  question.grown = options.survived;
  question.survived = options.survived.value_or(0);
  Living living;
  const ExitCode read = Read(options.living, std::move(question), {By::kSite}, &living);
  if (read == ExitCode::kUsage || read == ExitCode::kUnreadable) return read;
  const LiveReport report{*living.survey, *living.live, *living.tree, {}};
  const LeakRanking ranking{options.fdr, options.limit.value_or(options.living.json ? 0 : kRows), options.all};
  return Say(options.living.json ? LeaksJson(report, ranking) : LeaksText(report, ranking), read);
}

}  // namespace

Command LeaksCommand() {
  auto options = std::make_shared<LeaksOptions>();
  Command command("leaks", "Which sites hold more and more, and which are but noise");
  command.AddOption("--by", options->living.by, "What may leak (default: site)").Value("KEY").OneOf(Grouping::Words());
  command
      .AddOption("--survived", options->survived,
                 "Only what has survived so many collections (default: 3, less of a recording of few)")
      .Value("N");
  command.AddOption("--at", options->living.at, "As seen at this time (default: the end)").Value("TIME");
  command.AddPercent("--fdr", options->fdr, "So much of what is called a leak may be none (default: 5%)");
  command.AddFlag("--all", options->all, "Show also what is not shown to leak");
  command.AddOption("--limit", options->limit, "So many rows; 0: all. Default: 20; all with --json").Value("N");
  command.AddFlag("--json", options->living.json, "JSON instead of text");
  options->living.survey.AddTo(command);
  command.footer = R"(--from and --to say when growth is measured: leave out the time in which a program starts.

Examples:
  heaprec leaks rec.bin
  heaprec leaks --from 2m --survived 5 rec.bin
  heaprec leaks --by stack --hide '^java\.' --all rec.bin
  heaprec leaks --json rec.bin | jq -e '.leaks == 0')";
  command.run = [options](const auto&) { return ShowLeaks(*options); };
  return command;
}

}  // namespace heaprec::tools
