// heaprec fleet: questions to the recordings of many hosts, in ClickHouse or in a folder.
#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>

#include "tools/commands/commands.h"
#include "tools/commands/pages.h"
#include "tools/control/child.h"
#include "tools/fleet/answers/answers.h"
#include "tools/fleet/answers/fleet_time.h"
#include "tools/fleet/answers/pull.h"
#include "tools/fleet/answers/questions.h"
#include "tools/fleet/answers/reports.h"
#include "tools/fleet/server/connection_options.h"
#include "tools/fleet/server/prune.h"
#include "tools/fleet/server/schema.h"
#include "tools/fleet/source/folder_source.h"
#include "tools/fleet/source/server_source.h"
#include "tools/render/print.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/output_file.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using namespace fleet;

constexpr size_t kRows = 20;
constexpr double kPulledPerSecond = 5;  // of a recording in a folder, as heaprec ship sends by default

struct FleetOptions {
  QuestionOptions question;
  ConnectionOptions connection;
  std::string from_dir, slice;
  SelectionOptions selection;
  std::optional<size_t> limit;
  std::string cluster;
  Retention retention;
  bool yes = false;
  std::string file;
  bool force = false;
  uint64_t samples = 300'000;
  render::OutputOptions output;
};

// A source of sums, and what it needs to live.
struct Opened {
  std::unique_ptr<Server> server;
  std::unique_ptr<Source> source;
  ExitCode code = ExitCode::kOk;
};

uint32_t Now() { return static_cast<uint32_t>(std::time(nullptr)); }

format::Result<uint32_t> SliceOf(const std::string& text, uint32_t otherwise) {
  if (text.empty()) return otherwise;
  auto length = ParseLength(text);
  if (!length.ok()) return length.error();
  if (!IsSliceLength(*length)) {
    return format::Error{
        fmt::format("--slice {}: a slice must divide an hour, and be a part or a multiple of a minute", text)};
  }
  return length;
}

// What is made of samples, not of sums.
bool IsPulling(const FleetOptions& options) {
  return options.question.what == "pull" || options.question.what == "flame" || options.question.what == "report";
}

format::Result<Opened> Open(const FleetOptions& options) {
  Opened opened;
  if (!options.from_dir.empty()) {
    auto slice = SliceOf(options.slice, 60);
    if (!slice.ok()) return slice.error();
    auto folder = FolderSource::Open(options.from_dir, *slice, IsPulling(options) ? kPulledPerSecond : 0, {});
    if (!folder.ok()) return folder.error();
    if ((*folder)->is_damaged()) opened.code = ExitCode::kDamaged;
    opened.source = std::move(*folder);
    return opened;
  }
  auto server = options.connection.Connect();
  if (!server.ok()) return server.error();
  auto source = ServerSource::Open(server->get());
  if (!source.ok()) return source.error();
  opened.server = std::move(*server);
  opened.source = std::move(*source);
  return opened;
}

ExitCode Init(const FleetOptions& options) {
  auto slice = SliceOf(options.slice, 600);
  if (!slice.ok()) return Fail(ExitCode::kUsage, slice.error().message);
  if (!options.cluster.empty() && !IsIdentifier(options.cluster)) {
    return Fail(ExitCode::kUsage, fmt::format("--cluster: '{}' is not a cluster name", options.cluster));
  }
  auto server = options.connection.Connect();
  if (!server.ok()) return Fail(ExitCode::kUsage, server.error().message);
  auto report = InitSchema(server->get(), {.slice_seconds = *slice,
                                           .cluster = options.cluster,
                                           .sample_days = options.retention.sample_days,
                                           .sum_days = options.retention.sum_days});
  if (!report.ok()) return Fail(ExitCode::kCannotWrite, report.error().message);
  return render::Print(TablesReport(*report, **server), options.output);
}

ExitCode Prune(const FleetOptions& options) {
  auto server = options.connection.Connect();
  if (!server.ok()) return Fail(ExitCode::kUsage, server.error().message);
  auto there = ReadSchema(server->get());
  if (!there.ok()) return Fail(ExitCode::kCannotWrite, there.error().message);
  auto expired = ExpiredPartitions(server->get(), options.retention, Now());
  if (!expired.ok()) return Fail(ExitCode::kCannotWrite, expired.error().message);
  for (const Partition& one : *expired) {
    if (!options.yes) break;
    if (auto error = Drop(server->get(), one)) return Fail(ExitCode::kCannotWrite, error->message);
  }
  return render::Print(PruneReport(*expired, options.yes), options.output);
}

ExitCode WritePulled(const FleetOptions& options, const Opened& opened, const Selection& selection,
                     const std::string& path, bool force) {
  auto file = OutputFile::Open(path, force);
  if (!file.ok()) return Fail(ExitCode::kCannotWrite, file.error().message);
  Output output((*file)->descriptor());
  auto pulled = Pull(opened.source.get(), selection, options.samples, &output);
  if (!pulled.ok()) return Fail(ExitCode::kUnreadable, pulled.error().message);
  if (const auto failed = (*file)->Finish(&output)) return *failed;
  if (options.question.what == "pull" && path != "-") {
    PrintError(fmt::format("{}: {} samples of {} hosts", path, Grouped(pulled->samples), Grouped(pulled->hosts)));
  }
  return opened.code;
}

// The page of flame, or report, of a recording that is pulled for it.
ExitCode Draw(const FleetOptions& options, const Opened& opened, const Selection& selection) {
  const char* const place = std::getenv("TMPDIR");
  std::string folder = fmt::format("{}/heaprec-fleet-XXXXXX", place != nullptr && *place != '\0' ? place : "/tmp");
  if (mkdtemp(folder.data()) == nullptr) {
    return Fail(ExitCode::kCannotWrite, fmt::format("{}: {}", folder, std::strerror(errno)));
  }
  const std::string path = folder + "/fleet.hrec";
  ExitCode code = WritePulled(options, opened, selection, path, false);
  if (code == ExitCode::kOk || code == ExitCode::kDamaged) {
    PageRequest request;
    request.scan.files = {path};
    request.output = options.file;
    request.title = "fleet";
    request.force = options.force;
    const ExitCode drawn = options.question.what == "flame" ? WriteFlamePage(request) : WritePage(request);
    if (drawn != ExitCode::kOk) code = drawn;
  }
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  return code;
}

ExitCode Ask(FleetOptions options) {
  if (const std::string wrong = options.question.Objection(); !wrong.empty()) return Fail(ExitCode::kUsage, wrong);
  if (IsPulling(options) && options.file.empty())
    return Fail(ExitCode::kUsage, options.question.what + " needs -o FILE");
  if (options.question.what == "show") options.selection.site = options.question.words[0];
  if (options.from_dir.empty()) {
    if (auto server = options.connection.Connect(); !server.ok()) return Fail(ExitCode::kUsage, server.error().message);
  } else if (auto slice = SliceOf(options.slice, 60); !slice.ok()) {
    return Fail(ExitCode::kUsage, slice.error().message);
  }
  auto opened = Open(options);
  if (!opened.ok()) return Fail(ExitCode::kUnreadable, opened.error().message);
  auto selection = Select(opened->source.get(), options.selection, Now());
  if (!selection.ok()) return Fail(ExitCode::kUnreadable, selection.error().message);
  if (options.question.what == "pull") return WritePulled(options, *opened, *selection, options.file, options.force);
  if (IsPulling(options)) return Draw(options, *opened, *selection);
  const size_t limit = options.limit.value_or(options.output.is_for_people() ? kRows : 0);
  auto report = AnswerTo({options.question, opened->source.get(), *selection, limit});
  if (!report.ok()) return Fail(ExitCode::kUnreadable, report.error().message);
  return render::Print(*report, options.output, opened->code);
}

ExitCode Fleet(const FleetOptions& options) {
  if (options.question.what == "init") return Init(options);
  if (options.question.what == "prune") return Prune(options);
  return Ask(options);
}

void AddSelection(const std::shared_ptr<FleetOptions>& options, Command* command) {
  constexpr char kGroup[] = "Which recordings";
  SelectionOptions& selection = options->selection;
  command->AddOption("--service", selection.service, "Service; * and ? match any characters")
      .Value("NAME")
      .InGroup(kGroup);
  command->AddOption("--version", selection.version, "Version").Value("NAME").InGroup(kGroup);
  command->AddOption("--env", selection.environment, "Environment").Value("NAME").InGroup(kGroup);
  command->AddOption("--host", selection.host, "Host").Value("NAME").InGroup(kGroup);
  command->AddOption("--from", selection.from, "From this time on: 2h (ago), 14d, or 2026-11-20T10:00Z")
      .Value("TIME")
      .InGroup(kGroup);
  command->AddOption("--to", selection.to, "Up to this time").Value("TIME").InGroup(kGroup);
  command->AddOption("--class", selection.class_name, "Class: name, glob or /regex/").Value("NAME").InGroup(kGroup);
  command->AddOption("--site", selection.site, "Method that allocates: name, glob or /regex/")
      .Value("NAME")
      .InGroup(kGroup);
}

}  // namespace

Command FleetCommand() {
  auto options = std::make_shared<FleetOptions>();
  Command command("fleet", "Query many hosts: top, diff, outliers, live, timeline");
  command.AddOption("WHAT", options->question.what, "What to show or do; see below")
      .Required()
      .OneOf({"init", "services", "top", "timeline", "diff", "outliers", "live", "show", "pull", "flame", "report",
              "prune"});
  command.AddOption("ARGUMENT", options->question.words, "For diff two versions, for show a site");
  command.AddOption("--from-dir", options->from_dir, "Read the recordings (*.hrec) of a folder instead of a server")
      .Value("DIR");
  command.AddOption("--by", options->question.by, "Group rows by class, site (default) or both")
      .Value("KEY")
      .OneOf({"class", "site", "class-site"});
  command.AddOption("--limit", options->limit, "Maximum rows; 0 = all (default: 20; --json: all)").Value("N");
  command.AddOption("--step", options->question.step, "timeline: time per row, such as 10m (default: about 60 rows)")
      .Value("LENGTH");
  command.AddOption("--deploy", options->question.deploy, "diff: compare each host before and after this time")
      .Value("TIME");
  command.AddPercent("--fdr", options->question.rate,
                     "diff: false discovery rate among reported changes (default: 5%)");
  command.AddPercent("--min-share", options->question.min_share, "diff, outliers: ignore smaller rows (default: 0.1%)");
  command
      .AddOption("--min-z", options->question.least_z,
                 "outliers: minimum z-score, the distance from the median (default: 3.5)")
      .Value("Z")
      .Positive();
  options->output.AddTo(command);
  command.AddOption("-o,--output", options->file, "pull, flame, report: file to write").Value("FILE");
  command.AddFlag("-f,--force", options->force, "Overwrite FILE if it exists");
  command
      .AddOption("--samples", options->samples,
                 "pull, flame, report: maximum number of samples, about (default: 300000)")
      .Value("N")
      .Positive();
  AddSelection(options, &command);
  options->connection.AddTo(command, "--server");
  constexpr char kInit[] = "Tables (init, prune)";
  command.AddOption("--cluster", options->cluster, "Name of the cluster of which this server is a shard")
      .Value("NAME")
      .InGroup(kInit);
  command.AddOption("--slice", options->slice, "Time span of one row of sums (default: 10m; with --from-dir 1m)")
      .Value("LENGTH")
      .InGroup(kInit);
  command.AddOption("--sample-days", options->retention.sample_days, "Days to keep samples and slices (default: 14)")
      .Value("DAYS")
      .Positive()
      .InGroup(kInit);
  command.AddOption("--sum-days", options->retention.sum_days, "Days to keep sums by hour (default: 400)")
      .Value("DAYS")
      .Positive()
      .InGroup(kInit);
  command.AddFlag("--yes", options->yes, "prune: drop the listed days").InGroup(kInit);
  command.footer = R"(WHAT is one of:
  init       creates the tables on a server, or completes them
  services   what services and versions allocate, per host
  top        which sites or classes allocate most, over all hosts
  timeline   bytes per second over time: all, a class or a site
  diff       what differs between two versions, compared host by host
  outliers   hosts that differ from the others
  live       which sites or classes have most live bytes at --to
  show       one site: its services, classes, and bytes over time
  pull       writes samples as a recording for other commands; threads are hosts
  flame      a flame graph of pulled samples
  report     the interactive page of pulled samples
  prune      lists data older than the days to keep; --yes drops it

Examples:
  heaprec fleet init --server http://127.0.0.1:8123
  heaprec fleet top --service checkout --from 1d
  heaprec fleet diff 1.0 1.1 --service checkout
  heaprec fleet outliers --from-dir recordings/
  heaprec fleet show java.util.HashMap.resize --from 2h
  heaprec fleet flame --service checkout --from 1d -o checkout.html)";
  command.run = [options](const auto&) { return Fleet(*options); };
  return command;
}

}  // namespace heaprec::tools
