// heaprec ship: sends recordings to a fleet's server, each slice exactly once.
#include <csignal>
#include <ctime>
#include <filesystem>
#include <memory>

#include "tools/commands/commands.h"
#include "tools/fleet/answers/reports.h"
#include "tools/fleet/answers/selection.h"
#include "tools/fleet/ship/ship_run.h"
#include "tools/input/confined_open.h"
#include "tools/render/print.h"
#include "tools/text/interrupt.h"
#include "tools/text/messages.h"

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

}  // namespace heaprec::tools
