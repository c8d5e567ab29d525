// heaprec fleet: questions to the recordings of many hosts, in ClickHouse or in a folder.
#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "tools/commands/commands.h"
#include "tools/control/child.h"
#include "tools/export/output_file.h"
#include "tools/fleet/answers/answers.h"
#include "tools/fleet/answers/fleet_time.h"
#include "tools/fleet/answers/pull.h"
#include "tools/fleet/answers/reports.h"
#include "tools/fleet/server/connection_options.h"
#include "tools/fleet/server/prune.h"
#include "tools/fleet/server/schema.h"
#include "tools/fleet/source/folder_source.h"
#include "tools/fleet/source/server_source.h"
#include "tools/render/print.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using namespace fleet;

constexpr size_t kRows = 20;
constexpr double kPulledPerSecond = 5;  // of a recording in a folder, as heaprec ship sends by default

struct FleetOptions {
  std::string what;
  std::vector<std::string> words;
  ConnectionOptions connection;
  std::string from_dir, slice;
  SelectionOptions selection;
  std::string by = "site", step, deploy;
  std::optional<size_t> limit;
  double min_share = 0.001, rate = 0.05, least_z = 3.5;
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

RowGrain GrainOf(const std::string& by) {
  if (by == "class") return RowGrain::kClass;
  return by == "site" ? RowGrain::kSite : RowGrain::kClassAndSite;
}

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
  return options.what == "pull" || options.what == "flame" || options.what == "report";
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
  auto resolved = options.connection.Resolve();
  if (!resolved.ok()) return resolved.error();
  auto server = Server::Open(*resolved);
  if (!server.ok()) return server.error();
  auto source = ServerSource::Open(server->get());
  if (!source.ok()) return source.error();
  opened.server = std::move(*server);
  opened.source = std::move(*source);
  return opened;
}

struct Question {
  const FleetOptions& options;
  Source* source;
  const Selection& selection;
  size_t limit = 0;
};

using Answered = format::Result<render::Report>;

Answered AnswerServices(const Question& of) {
  auto rows = Services(of.selection);
  if (!rows.ok()) return rows.error();
  return ServicesReport(ScopeOf(of.selection), *rows, of.limit);
}

Answered AnswerTop(const Question& of) {
  const RowGrain by = GrainOf(of.options.by);
  auto answer = Top(of.source, of.selection, by, of.limit);
  if (!answer.ok()) return answer.error();
  return TopReport(ScopeOf(of.selection), *answer, by);
}

Answered AnswerTimeline(const Question& of) {
  uint32_t step = 0;
  if (!of.options.step.empty()) {
    auto length = ParseLength(of.options.step);
    if (!length.ok()) return length.error();
    step = *length;
  }
  auto rows = Timeline(of.source, of.selection, step);
  if (!rows.ok()) return rows.error();
  return TimelineReport(ScopeOf(of.selection), *rows);
}

Answered AnswerDiff(const Question& of) {
  const RowGrain by = GrainOf(of.options.by);
  const DiffOptions how{.by = by, .rate = of.options.rate, .min_share = of.options.min_share};
  const auto answer = [&]() -> format::Result<DiffAnswer> {
    if (!of.options.deploy.empty()) {
      auto deploy = ParseFleetTime(of.options.deploy, Now());
      if (!deploy.ok()) return deploy.error();
      return DiffDeploy(of.source, of.selection, *deploy, how);
    }
    return DiffVersions(of.source, of.selection, of.options.words[0], of.options.words[1], how);
  }();
  if (!answer.ok()) return answer.error();
  return DiffReport(ScopeOf(of.selection), *answer, by, how.rate, of.limit);
}

Answered AnswerOutliers(const Question& of) {
  const RowGrain by = GrainOf(of.options.by);
  auto rows = Outliers(of.source, of.selection, by, of.options.min_share, of.options.least_z);
  if (!rows.ok()) return rows.error();
  return OutliersReport(ScopeOf(of.selection), *rows, by, of.options.least_z, of.limit);
}

Answered AnswerLive(const Question& of) {
  const RowGrain by = GrainOf(of.options.by);
  auto answer = FleetLive(of.source, of.selection, by, of.limit);
  if (!answer.ok()) return answer.error();
  return LiveReport(*answer, by);
}

Answered AnswerShow(const Question& of) {
  auto answer = Show(of.source, of.selection, of.options.words[0]);
  if (!answer.ok()) return answer.error();
  return ShowReport(ScopeOf(of.selection), *answer, of.limit);
}

const std::map<std::string, std::function<Answered(const Question&)>>& Questions() {
  static const std::map<std::string, std::function<Answered(const Question&)>> kQuestions{
      {"services", AnswerServices}, {"top", AnswerTop},   {"live", AnswerLive}, {"timeline", AnswerTimeline},
      {"outliers", AnswerOutliers}, {"diff", AnswerDiff}, {"show", AnswerShow}};
  return kQuestions;
}

// What is wrong with the words behind the question; empty: nothing.
std::string WrongWords(const FleetOptions& options) {
  const size_t count = options.words.size();
  if (options.what == "diff" && options.deploy.empty() && count != 2) {
    return "diff needs two versions, or --deploy TIME";
  }
  if (options.what == "diff" && !options.deploy.empty() && count != 0) return "diff --deploy TIME needs no versions";
  if (options.what == "show" && count != 1) return "show needs one site, such as java.util.HashMap.resize";
  if (IsPulling(options) && options.file.empty()) return options.what + " needs -o FILE";
  if (options.what != "diff" && options.what != "show" && count > 0) {
    return fmt::format("{} needs no '{}'", options.what, options.words[0]);
  }
  return "";
}

ExitCode Init(const FleetOptions& options) {
  auto slice = SliceOf(options.slice, 600);
  if (!slice.ok()) return Fail(ExitCode::kUsage, slice.error().message);
  if (!options.cluster.empty() && !IsIdentifier(options.cluster)) {
    return Fail(ExitCode::kUsage, fmt::format("--cluster: '{}' is no name of a cluster", options.cluster));
  }
  auto resolved = options.connection.Resolve();
  if (!resolved.ok()) return Fail(ExitCode::kUsage, resolved.error().message);
  auto server = Server::Open(*resolved);
  if (!server.ok()) return Fail(ExitCode::kUsage, server.error().message);
  auto report = InitSchema(server->get(), {.slice_seconds = *slice,
                                           .cluster = options.cluster,
                                           .sample_days = options.retention.sample_days,
                                           .sum_days = options.retention.sum_days});
  if (!report.ok()) return Fail(ExitCode::kCannotWrite, report.error().message);
  render::Report said("heaprec.fleet.init/1");
  const bool is_new = report->version_before < kSchemaVersion;
  said.Add(render::Sentence(is_new ? "{}: database {} now has the tables of version {} (ClickHouse {})"
                                   : "{}: database {} has the tables of version {} (ClickHouse {})",
                            {{"server", (*server)->name()},
                             {"database", (*server)->database()},
                             {"version", kSchemaVersion, render::Unit::kInteger},
                             {"clickhouse", report->server_version}}));
  said.Add(render::Hidden({{"created", report->version_before == 0},
                           {"upgraded", is_new && report->version_before > 0},
                           {"has_retention", report->has_retention},
                           {"replicated", report->is_replicated}}));
  if (report->is_replicated) said.Add(render::Note("Each replica of this shard keeps all of the shard's rows."));
  if (!report->has_retention) {
    said.Add(render::Note("This server keeps all rows: heaprec fleet prune drops those that are too old."));
  }
  return render::Print(said, options.output);
}

ExitCode Prune(const FleetOptions& options) {
  auto resolved = options.connection.Resolve();
  if (!resolved.ok()) return Fail(ExitCode::kUsage, resolved.error().message);
  auto server = Server::Open(*resolved);
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
  output.Flush();
  const ExitCode written = output.Report(path == "-" ? "standard output" : path);
  if (written != ExitCode::kOk || output.failed()) return written;
  if (const auto error = (*file)->Commit()) return Fail(ExitCode::kCannotWrite, error->message);
  if (options.what == "pull" && path != "-") {
    PrintError(fmt::format("{}: {} samples of {} hosts", path, Grouped(pulled->samples), Grouped(pulled->hosts)));
  }
  return opened.code;
}

// heaprec flame, or report, of a recording that is pulled for it.
ExitCode Draw(const FleetOptions& options, const Opened& opened, const Selection& selection) {
  const char* const place = std::getenv("TMPDIR");
  std::string folder = fmt::format("{}/heaprec-fleet-XXXXXX", place != nullptr && *place != '\0' ? place : "/tmp");
  if (mkdtemp(folder.data()) == nullptr) {
    return Fail(ExitCode::kCannotWrite, fmt::format("{}: {}", folder, std::strerror(errno)));
  }
  const std::string path = folder + "/fleet.hrec";
  ExitCode code = WritePulled(options, opened, selection, path, false);
  if (code == ExitCode::kOk || code == ExitCode::kDamaged) {
    std::vector<std::string> command{"/proc/self/exe", options.what, path, "-o", options.file, "--title", "fleet"};
    if (options.force) command.emplace_back("-f");
    std::string why;
    const int status = RunChild(command, {}, &why);
    if (!why.empty()) PrintError(why);
    if (status != 0) code = static_cast<ExitCode>(status);
  }
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  return code;
}

ExitCode Ask(FleetOptions options) {
  if (const std::string wrong = WrongWords(options); !wrong.empty()) return Fail(ExitCode::kUsage, wrong);
  if (options.what == "show") options.selection.site = options.words[0];
  auto opened = Open(options);
  if (!opened.ok()) return Fail(ExitCode::kUnreadable, opened.error().message);
  auto selection = Select(opened->source.get(), options.selection, Now());
  if (!selection.ok()) return Fail(ExitCode::kUnreadable, selection.error().message);
  if (options.what == "pull") return WritePulled(options, *opened, *selection, options.file, options.force);
  if (IsPulling(options)) return Draw(options, *opened, *selection);
  const size_t limit = options.limit.value_or(options.output.is_for_people() ? kRows : 0);
  auto report = Questions().at(options.what)({options, opened->source.get(), *selection, limit});
  if (!report.ok()) return Fail(ExitCode::kUnreadable, report.error().message);
  return render::Print(*report, options.output, opened->code);
}

ExitCode Fleet(const FleetOptions& options) {
  if (options.what == "init") return Init(options);
  if (options.what == "prune") return Prune(options);
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
  Command command("fleet", "Ask the recordings of many hosts");
  command.AddOption("WHAT", options->what, "What to do; see below")
      .Required()
      .OneOf({"init", "services", "top", "timeline", "diff", "outliers", "live", "show", "pull", "flame", "report",
              "prune"});
  command.AddOption("ARGUMENT", options->words, "Of diff: two versions; of show: a site");
  command.AddOption("--from-dir", options->from_dir, "Read the recordings (*.hrec) of a folder instead of a server")
      .Value("DIR");
  command.AddOption("--by", options->by, "Group rows by class, site (default) or both")
      .Value("KEY")
      .OneOf({"class", "site", "class-site"});
  command.AddOption("--limit", options->limit, "Maximum rows; 0 = all (default: 20; --json: all)").Value("N");
  command.AddOption("--step", options->step, "Length of a row of timeline (default: about 60 rows, or hours)")
      .Value("LENGTH");
  command.AddOption("--deploy", options->deploy, "diff: compare each host before and after this time").Value("TIME");
  command.AddPercent("--fdr", options->rate, "diff: at most this share of the changes is none (default: 5%)");
  command.AddPercent("--min-share", options->min_share, "diff, outliers: ignore smaller rows (default: 0.1%)");
  command.AddOption("--min-z", options->least_z, "outliers: least distance from the median (default: 3.5)")
      .Value("Z")
      .Positive();
  options->output.AddTo(command);
  command.AddOption("-o,--output", options->file, "pull, flame, report: file to write").Value("FILE");
  command.AddFlag("-f,--force", options->force, "Overwrite FILE if it exists");
  command.AddOption("--samples", options->samples, "pull, flame, report: about so many at most (default: 300000)")
      .Value("N")
      .Positive();
  AddSelection(options, &command);
  options->connection.AddTo(command, "--server");
  constexpr char kInit[] = "Tables (init, prune)";
  command.AddOption("--cluster", options->cluster, "Name of the cluster this server is a shard of")
      .Value("NAME")
      .InGroup(kInit);
  command.AddOption("--slice", options->slice, "Shortest time that sums tell apart (default: 10m; with --from-dir 1m)")
      .Value("LENGTH")
      .InGroup(kInit);
  command.AddOption("--sample-days", options->retention.sample_days, "Keep samples and slices (default: 14)")
      .Value("DAYS")
      .Positive()
      .InGroup(kInit);
  command.AddOption("--sum-days", options->retention.sum_days, "Keep sums by hour (default: 400)")
      .Value("DAYS")
      .Positive()
      .InGroup(kInit);
  command.AddFlag("--yes", options->yes, "prune: drop what is listed").InGroup(kInit);
  command.footer = R"(WHAT is one of:
  init       creates the tables on a server, or completes them
  services   what services and versions allocate, per host
  top        which sites or classes allocate most, over all hosts
  timeline   bytes per second, of all or of a class or site
  diff       what differs between two versions; hosts are the unit
  outliers   hosts that differ from the others
  live       which sites or classes hold most live objects, at the end of --to
  show       one site: services, classes, course
  pull       samples as a recording, for all other commands; a thread is a host
  flame      a flame graph of pulled samples
  report     the interactive page of pulled samples
  prune      lists what is older than the days to keep; --yes drops it

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
