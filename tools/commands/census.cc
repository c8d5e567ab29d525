// heaprec census: what was allocated, counted object by object in TLABs that were walked.
#include <unistd.h>

#include <memory>
#include <optional>

#include "tools/options/command.h"
#include "tools/report/census_report.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"

namespace heaprec::tools {
namespace {

constexpr size_t kRows = 20;

struct CensusOptions {
  std::vector<std::string> recordings;
  std::string before, by = "class", sort = "bytes";
  CensusChoice choice;
  std::optional<size_t> limit;
  bool json = false;
};

ExitCode Worse(ExitCode a, ExitCode b) { return a == ExitCode::kUnreadable || b == ExitCode::kOk ? a : b; }

ExitCode ShowCensus(const CensusOptions& options) {
  CensusChoice choice = options.choice;
  choice.by = options.by == "class" ? CensusBy::kClass : options.by == "thread" ? CensusBy::kThread : CensusBy::kTime;
  auto now = CensusSurvey::Parse(choice);
  auto before = CensusSurvey::Parse(choice);
  if (!now.ok()) {
    Complain(now.error().message);
    return ExitCode::kUsage;
  }
  ExitCode read = ExitCode::kOk;
  for (const std::string& path : options.recordings) read = Worse(read, now->Read(path));
  if (!options.before.empty()) read = Worse(read, before->Read(options.before));
  if (read == ExitCode::kUnreadable) return read;
  const CensusSurvey* const compared = options.before.empty() ? nullptr : &*before;
  const CensusRanking ranking{options.sort, options.limit.value_or(options.json ? 0 : kRows)};
  Output output(STDOUT_FILENO);
  output.Append(options.json ? CensusJson(*now, compared, ranking) : CensusText(*now, compared, ranking));
  output.Flush();
  const ExitCode written = output.Report("standard output");
  return written != ExitCode::kOk ? written : read;
}

}  // namespace

Command CensusCommand() {
  auto options = std::make_shared<CensusOptions>();
  Command command("census", "What was allocated, counted object by object");
  command.AddOption("REC", options->recordings, "The recordings; - is standard input").Required();
  command.AddOption("--by", options->by, "class, thread, or time: each second (default: class)")
      .Value("KEY")
      .OneOf({"class", "thread", "time"});
  command.AddOption("--before", options->before, "Compare with this recording: what is more, what is less")
      .Value("REC");
  command.AddOption("--sort", options->sort, "bytes, objects or name (default: bytes)")
      .Value("KEY")
      .OneOf({"bytes", "objects", "name"});
  command.AddOption("--limit", options->limit, "So many rows; 0: all. Default: 20; all with --json").Value("N");
  command.AddFlag("--json", options->json, "JSON instead of text");
  constexpr const char* kGroup = "Which objects";
  command.AddOption("--from", options->choice.from, "Of seconds from this time on: an offset, ISO 8601 or epoch ns")
      .Value("TIME")
      .InGroup(kGroup);
  command.AddOption("--to", options->choice.to, "Of seconds that begin before this time").Value("TIME").InGroup(kGroup);
  command
      .AddOption("--thread", options->choice.thread,
                 "Of threads whose name holds TEXT (or matches it as a regular expression); #N: Java thread id")
      .Value("TEXT")
      .InGroup(kGroup);
  command
      .AddOption("--class", options->choice.class_name,
                 "Of this class, as Java writes it: a name, its end after a dot, a glob or /regex/")
      .Value("NAME")
      .InGroup(kGroup);
  command.footer = R"(A recording has a census if it was made with census=all or census=N/s.

Examples:
  heaprec census rec.bin
  heaprec census --by thread --class 'byte[]' rec.bin
  heaprec census --by time rec.bin
  heaprec census --before old.bin new.bin
  heaprec census --json rec.bin | jq -r '.rows[] | [.objects.value, .name] | @tsv')";
  command.run = [options](const auto&) { return ShowCensus(*options); };
  return command;
}

}  // namespace heaprec::tools
