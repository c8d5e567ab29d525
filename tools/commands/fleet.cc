// heaprec ship: sends recordings to a fleet's server, each slice exactly once.
// heaprec fleet: queries the recordings of many hosts, in ClickHouse or in a folder.
#include <csignal>
#include <ctime>
#include <filesystem>
#include <memory>
#include <utility>

#include "tools/commands/commands.h"
#include "tools/commands/page_output.h"
#include "tools/fleet/answers/pull.h"
#include "tools/fleet/answers/questions.h"
#include "tools/fleet/answers/selection.h"
#include "tools/fleet/answers/source.h"
#include "tools/fleet/server/server.h"
#include "tools/fleet/ship/ship_run.h"
#include "tools/input/confined_open.h"
#include "tools/render/print.h"
#include "tools/text/interrupt.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"

namespace heaprec::tools {
namespace {

using namespace fleet;

struct ShipCommandOptions {
  ShipRunOptions run;
  ConnectionOptions connection;
  std::string since;
  bool quiet = false;
  render::OutputOptions output;
};

ExitCode Ship(const ShipCommandOptions& options) {
  ShipRunOptions how = options.run;
  if (!options.since.empty()) {
    auto since = ParseFleetTime(options.since, static_cast<uint32_t>(std::time(nullptr)));
    if (!since.ok()) return Fail(ExitCode::kUsage, "--since: " + since.error().message);
    how.ship.since = *since;
  }
  for (const std::string& path : how.paths) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return Fail(ExitCode::kUnreadable, path + ": no such file or folder");
  }
  CatchSignals({SIGINT, SIGTERM});
  std::unique_ptr<Server> server;
  Schema schema{.slice_seconds = 600, .cluster = ""};
  if (!how.ship.dry_run) {
    auto opened = options.connection.Open();
    if (!opened.ok()) return Fail(ExitCode::kUsage, opened.error().message);
    server = std::move(*opened);
    auto there = FindSchema(how, server.get());
    if (!there.ok()) return ExitCode::kCannotWrite;
    schema = *there;
  }
  ShipRun run(how, server.get(), schema);
  const ExitCode code = run.Run();
  if (options.quiet) return code;
  const ExitCode printed = render::Print(ShipReport(run, server.get(), how.ship.dry_run), options.output);
  return code != ExitCode::kOk ? code : printed;
}

constexpr size_t kRows = 20;
// samples per second of a recording in a folder; heaprec ship has the same default
constexpr double kPulledPerSecond = 5;

struct FleetOptions {
  QuestionOptions question;
  ConnectionOptions connection;
  std::string from_dir;
  SelectionOptions selection;
  TableOptions tables;
  PullOptions pull;
  bool quiet = false;
  render::OutputOptions output;
};

// The source: a server, or a folder of recordings.
struct OpenedSource {
  std::unique_ptr<Server> server;
  std::unique_ptr<Source> source;
};

// `samples_per_second`: for each recording of a folder. kDamaged: some recordings of the folder could not be read.
ExitCode OpenSource(const FleetOptions& options, double samples_per_second, OpenedSource* into) {
  if (!options.from_dir.empty()) {
    const auto seconds = SliceOf(options.tables.slice_ns, 60);
    if (!seconds.ok()) return Fail(ExitCode::kUsage, seconds.error().message);
    auto source = OpenFolder(options.from_dir, *seconds, samples_per_second);
    if (!source.ok()) return Fail(ExitCode::kUnreadable, source.error().message);
    into->source = std::move(*source);
    return into->source->is_damaged() ? ExitCode::kDamaged : ExitCode::kOk;
  }
  auto server = options.connection.Open();
  if (!server.ok()) return Fail(ExitCode::kUsage, server.error().message);
  into->server = std::move(*server);
  auto source = OpenServer(into->server.get());
  if (!source.ok()) return Fail(ExitCode::kUnreadable, source.error().message);
  into->source = std::move(*source);
  return ExitCode::kOk;
}

uint32_t Now() { return static_cast<uint32_t>(std::time(nullptr)); }

ExitCode Tables(const FleetOptions& options) {
  const auto schema = options.tables.Schema();
  if (!schema.ok()) return Fail(ExitCode::kUsage, schema.error().message);
  auto server = options.connection.Open();
  if (!server.ok()) return Fail(ExitCode::kUsage, server.error().message);
  const auto report = options.question.what == "init" ? InitTables(server->get(), *schema)
                                                      : PruneTables(server->get(), options.tables, Now());
  if (!report.ok()) return Fail(ExitCode::kCannotWrite, report.error().message);
  return options.quiet ? ExitCode::kOk : render::Print(*report, options.output);
}

// Writes the page of flame or report for a recording that is fetched for it.
ExitCode Draw(const FleetOptions& options, Source* source, const Selection& selection) {
  const auto folder = TemporaryFolder::Make();
  if (!folder.ok()) return Fail(ExitCode::kCannotWrite, folder.error().message);
  PullOptions pull = options.pull;
  pull.file = (*folder)->path() + "/fleet.hrec";
  const ExitCode pulled = PullTo(source, selection, pull, /*says_what=*/false);
  if (pulled != ExitCode::kOk) return pulled;
  PageRequest page;
  page.scan.files = {pull.file};
  page.title = "fleet";
  if (options.question.what == "flame") page.OpenAsFlameGraph();
  return PageOutput{options.pull.file, options.pull.force, options.quiet}.Write(page);
}

ExitCode Ask(FleetOptions options) {
  if (const std::string wrong = options.question.Objection(); !wrong.empty()) return Fail(ExitCode::kUsage, wrong);
  const bool wants_samples = options.question.wants_samples();
  if (wants_samples && options.pull.file.empty())
    return Fail(ExitCode::kUsage, options.question.what + " needs -o FILE");
  if (options.question.what == "show") options.selection.site = options.question.words[0];
  const double per_second = wants_samples ? kPulledPerSecond : 0;
  OpenedSource opened;
  const ExitCode read = OpenSource(options, per_second, &opened);
  if (read != ExitCode::kOk && read != ExitCode::kDamaged) return read;
  Source* const source = opened.source.get();
  const auto selection = Select(source, options.selection, Now());
  if (!selection.ok()) return Fail(ExitCode::kUnreadable, selection.error().message);
  if (wants_samples) {
    const ExitCode code = options.question.what == "pull" ? PullTo(source, *selection, options.pull, !options.quiet)
                                                          : Draw(options, source, *selection);
    return code != ExitCode::kOk ? code : read;
  }
  const auto report = AnswerTo({options.question, source, *selection, options.output.Rows(kRows)});
  if (!report.ok()) return Fail(ExitCode::kUnreadable, report.error().message);
  return render::Print(*report, options.output, read);
}

}  // namespace

Command ShipCommand() {
  auto options = std::make_shared<ShipCommandOptions>();
  Command command("ship", "Send recordings to ClickHouse, for heaprec fleet");
  command.AddOption("PATH", options->run.paths, "Recordings, or folders with recordings (*.hrec)").Required();
  command.AddFlag("--follow", options->run.follow, "Continue as recordings grow and new ones appear");
  command.AddFlag("--dry-run", options->run.ship.dry_run, "Show what would be sent, and send nothing");
  command.AddOption("--since", options->since, "Skip older slices: 2h (ago), or 2026-11-20T10:00Z").Value("TIME");
  command
      .AddOption("--samples", options->run.ship.samples_per_second,
                 "Samples with stacks to send per second of a recording (default: 5); sums cover all samples")
      .Value("N")
      .InRange(0, 1e6);
  command.AddOption("--tries", options->run.tries, "Attempts before giving up, without --follow (default: 5)")
      .Value("N")
      .Positive();
  command.AddFlag("-q,--quiet", options->quiet, "Print errors only");
  options->output.AddTo(command);
  constexpr char kLabels[] = "Labels (default: those in the recording)";
  command.AddOption("--service", options->run.ship.labels.service, "Service").Value("NAME").InGroup(kLabels);
  command.AddOption("--version", options->run.ship.labels.version, "Version").Value("NAME").InGroup(kLabels);
  command.AddOption("--env", options->run.ship.labels.environment, "Environment").Value("NAME").InGroup(kLabels);
  command.AddOption("--host", options->run.ship.labels.host, "Host").Value("NAME").InGroup(kLabels);
  command.AddOption("--pod", options->run.ship.labels.pod, "Pod").Value("NAME").InGroup(kLabels);
  options->connection.AddTo(command);
  command.footer = R"(A slice of a recording (10 minutes, unless the tables say otherwise) is sent
once it is over. If ship or the server is killed, run ship again: no slice is
sent twice.

Examples:
  heaprec ship recordings/ --server http://127.0.0.1:8123 --follow
  heaprec ship app.hrec --server https://clickhouse.example:8443 --user heaprec
  heaprec ship recordings/ --since 2d --dry-run)";
  command.run = [options](const auto&) { return Ship(*options); };
  return command;
}

Command FleetCommand() {
  auto options = std::make_shared<FleetOptions>();
  Command command("fleet", "Query many hosts: top, diff, outliers, live, timeline");
  options->question.AddWordsTo(command);
  command.AddOption("--from-dir", options->from_dir, "Read the recordings (*.hrec) of a folder instead of a server")
      .Value("DIR");
  command
      .AddOption(
          "--by", options->question.by,
          "Group rows by class, site (default) or both; outliers: time-to-full, the processes that will be full first")
      .Value("KEY")
      .OneOf({"class", "site", "class-site", kByTimeToFull});
  options->output.AddLimitTo(command);
  options->question.AddTo(command);
  command.AddFlag("-q,--quiet", options->quiet,
                  "init, prune: print errors only; pull, flame, report: do not print what was written");
  options->output.AddTo(command);
  options->pull.AddTo(command);
  options->selection.AddTo(command);
  options->connection.AddTo(command);
  options->tables.AddTo(command);
  command.footer = "WHAT is one of:\n" + QuestionOptions::Help() + R"(
Examples:
  heaprec fleet init --server http://127.0.0.1:8123
  heaprec fleet top --service checkout --from 1d
  heaprec fleet diff 1.0 1.1 --service checkout
  heaprec fleet outliers --from-dir recordings/
  heaprec fleet outliers --by time-to-full --from 1h
  heaprec fleet show java.util.HashMap.resize --from 2h
  heaprec fleet flame --service checkout --from 1d -o checkout.html)";
  command.run = [options](const auto&) {
    const std::string& what = options->question.what;
    return what == "init" || what == "prune" ? Tables(*options) : Ask(*options);
  };
  return command;
}

}  // namespace heaprec::tools
