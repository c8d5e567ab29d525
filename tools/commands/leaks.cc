// heaprec leaks: which sites hold more and more.
#include <memory>
#include <optional>

#include "tools/commands/live_options.h"
#include "tools/options/command.h"
#include "tools/report/live/reports.h"

namespace heaprec::tools {
namespace {

constexpr size_t kRows = 20;

struct LeaksOptions {
  LiveCommandOptions common;
  std::optional<uint64_t> survived;
  double fdr = 0.05;
  bool all = false;
};

ExitCode ShowLeaks(const LeaksOptions& options) {
  LiveQuery question;
  question.grown = options.survived;
  question.survived = options.survived.value_or(0);
  question.leaks = true;
  LiveScan living;
  const ExitCode read = Read(options.common, std::move(question), {By::kSite}, &living);
  if (read == ExitCode::kUsage || read == ExitCode::kUnreadable) return read;
  const LiveAnswer answer{*living.scan, living.live->result(), *living.tree, {}};
  const LeakRanking ranking{options.fdr, options.common.output.Rows(kRows), options.all};
  return render::Print(LeaksReport(answer, ranking), options.common.output, read);
}

}  // namespace

Command LeaksCommand() {
  auto options = std::make_shared<LeaksOptions>();
  Command command("leaks", "Find sites whose live bytes keep growing");
  command.AddOption("--by", options->common.by, "Group by this key (default: site)")
      .Value("KEY")
      .OneOf(Grouping::Words());
  command
      .AddOption("--survived", options->survived,
                 "Count objects that survived at least N collections (default: 3, fewer in short recordings)")
      .Value("N");
  command.AddOption("--at", options->common.at, "Time at which live bytes are shown (default: the end)").Value("TIME");
  command.AddPercent("--fdr", options->fdr, "False discovery rate among reported leaks (default: 5%)");
  command.AddFlag("--all", options->all, "Also show sites whose growth is not significant");
  options->common.output.AddLimitTo(command);
  options->common.output.AddTo(command);
  options->common.scan.AddTo(command);
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
