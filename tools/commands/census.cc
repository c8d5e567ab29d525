// heaprec census: exact counts per class, from TLABs that were walked object by object.
#include <memory>

#include "tools/options/command.h"
#include "tools/render/print.h"
#include "tools/report/estimates/reports.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

constexpr size_t kRows = 20;

struct CensusOptions {
  std::vector<std::string> recordings;
  std::string baseline, by = "class", sort = "bytes";
  CensusChoice choice;
  render::OutputOptions output;
};

ExitCode ShowCensus(const CensusOptions& options) {
  CensusChoice choice = options.choice;
  choice.by = options.by == "class" ? CensusBy::kClass : options.by == "thread" ? CensusBy::kThread : CensusBy::kTime;
  auto now = CensusScan::Parse(choice);
  auto before = CensusScan::Parse(choice);
  if (!now.ok()) return Fail(ExitCode::kUsage, now.error().message);
  ExitCode read = now->Read(options.recordings);
  if (read == ExitCode::kUnreadable) return read;
  if (!options.baseline.empty()) {
    const ExitCode of_baseline = before->Read({options.baseline});
    if (of_baseline == ExitCode::kUnreadable) return of_baseline;
    if (of_baseline != ExitCode::kOk) read = of_baseline;
  }
  if (now->total().sums.objects.counted == 0) ReportUnmatched(now->asked(), options.recordings);
  const CensusScan* const compared = options.baseline.empty() ? nullptr : &*before;
  const CensusRanking ranking{options.sort, options.output.Rows(kRows)};
  return render::Print(CensusReport(*now, compared, ranking), options.output, read);
}

}  // namespace

Command CensusCommand() {
  auto options = std::make_shared<CensusOptions>();
  Command command("census", "Show exact counts per class (recorded with census=)");
  command.AddOption("REC", options->recordings, "Recordings to read; - is standard input").Required();
  command.AddOption("--by", options->by, "Group rows by class (default), thread, or time (one row per second)")
      .Value("KEY")
      .OneOf({"class", "thread", "time"});
  command.AddOption("--baseline", options->baseline, "Show increases and decreases since this recording").Value("REC");
  command.AddOption("--sort", options->sort, "Sort by bytes (default), objects or name")
      .Value("KEY")
      .OneOf({"bytes", "objects", "name"});
  options->output.AddLimitTo(command);
  options->output.AddTo(command);
  constexpr const char* kGroup = "Filters";
  command
      .AddOption("--from", options->choice.from,
                 "Seconds from this time on: an offset (10s, 1m30s), ISO 8601 or epoch ns")
      .Value("TIME")
      .InGroup(kGroup);
  command.AddOption("--to", options->choice.to, "Seconds that begin before this time").Value("TIME").InGroup(kGroup);
  command
      .AddOption("--thread", options->choice.thread,
                 "Threads whose name contains TEXT or matches it as a regular expression; #N: Java thread ID")
      .Value("TEXT")
      .InGroup(kGroup);
  command
      .AddOption("--class", options->choice.class_name,
                 "Objects of this class: full name, simple name, glob (java.util.*) or /regex/")
      .Value("NAME")
      .InGroup(kGroup);
  command.footer = R"(A recording has a census if it was made with the agent option census=all or
census=N/s.

Examples:
  heaprec census app.hrec
  heaprec census --by thread --class 'byte[]' app.hrec
  heaprec census --by time app.hrec
  heaprec census --baseline old.hrec new.hrec
  heaprec census --json app.hrec | jq -r '.rows[] | [.objects.value, .name] | @tsv')";
  command.run = [options](const auto&) { return ShowCensus(*options); };
  return command;
}

}  // namespace heaprec::tools
