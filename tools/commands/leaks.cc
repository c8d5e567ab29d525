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
  Command command("leaks", "Find sites whose live bytes keep growing");
  command.AddOption("--by", options->living.by, "Group by this key (default: site)")
      .Value("KEY")
      .OneOf(Grouping::Words());
  command
      .AddOption("--survived", options->survived,
                 "Count objects that survived at least N collections (default: 3, fewer in short recordings)")
      .Value("N");
  command.AddOption("--at", options->living.at, "Time at which live bytes are shown (default: the end)").Value("TIME");
  command.AddPercent("--fdr", options->fdr, "False discovery rate among reported leaks (default: 5%)");
  command.AddFlag("--all", options->all, "Also show sites whose growth is not significant");
  command.AddOption("--limit", options->limit, "Maximum rows; 0 = all (default: 20; --json: all)").Value("N");
  command.AddFlag("--json", options->living.json, "Print JSON");
  options->living.survey.AddTo(command);
  command.footer = R"(--from and --to bound the time in which growth is measured; exclude the start-up
of the program.

Examples:
  heaprec leaks app.hrec
  heaprec leaks --from 2m --survived 5 app.hrec
  heaprec leaks --by stack --hide '^java\.' --all app.hrec
  heaprec leaks --json app.hrec | jq -e '.leaks == 0')";
  command.run = [options](const auto&) { return ShowLeaks(*options); };
  return command;
}

}  // namespace heaprec::tools
