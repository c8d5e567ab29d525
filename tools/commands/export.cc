// heaprec export: the events in the formats of other tools.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "tools/commands/live_options.h"
#include "tools/export/export_pipeline.h"
#include "tools/export/exporter.h"
#include "tools/export/formats.h"
#include "tools/export/live_samples.h"
#include "tools/input/program_recording.h"
#include "tools/options/command.h"
#include "tools/query/filter/event_filter.h"
#include "tools/query/filter/time_point.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/output_file.h"

namespace heaprec::tools {
namespace {

struct ExportOptions {
  std::vector<std::string> paths;
  std::string output = "-", format = ExportFormats().front().name;
  std::string weights, service;
  bool force = false, lines = false, live = false, raw = false;
  std::string at;
  FilterOptions filter;
};

std::string FormatsThat(bool ExportFormat::*take) {
  std::string names;
  for (const ExportFormat& format : ExportFormats()) {
    if (format.*take) names += (names.empty() ? "" : ", ") + format.name;
  }
  return names;
}

// What is wrong with the options; empty: nothing.
std::string Objection(const ExportOptions& options, const ExportFormat& format) {
  if (!options.weights.empty() && !format.takes_weights) {
    return "--weights is for --format " + FormatsThat(&ExportFormat::takes_weights);
  }
  if (options.lines && !format.takes_lines) return "--lines is for --format " + FormatsThat(&ExportFormat::takes_lines);
  if (!options.service.empty() && !format.takes_service) {
    return "--service is for --format " + FormatsThat(&ExportFormat::takes_service);
  }
  if (options.raw && !format.takes_raw) {
    return "--raw is for --format " + FormatsThat(&ExportFormat::takes_raw) + "; " + format.name +
           " always has both raw and calibrated weights";
  }
  if (!options.filter.hide.empty() && !format.takes_hide) {
    return "--hide is for --format " + FormatsThat(&ExportFormat::takes_hide);
  }
  if (options.live && !format.takes_live) return "--live is for --format " + FormatsThat(&ExportFormat::takes_live);
  if (options.live && options.filter.limit) return "--live and --limit exclude each other";
  if (!options.at.empty() && !options.live && !format.takes_at) {
    return "--at is for --format " + FormatsThat(&ExportFormat::takes_at) + ", and for --live";
  }
  if (format.binary && options.output == "-" && isatty(STDOUT_FILENO) == 1) {
    return format.name + ": binary output is not written to a terminal; name a file with -o";
  }
  return {};
}

bool AnyTracked(const Recordings& recordings) {
  return std::any_of(recordings.begin(), recordings.end(),
                     [](const auto& recording) { return recording->header().max_tracked_objects > 0; });
}

format::Result<std::optional<TimePoint>> ParseAt(const std::string& text) {
  if (text.empty()) return std::optional<TimePoint>();
  const auto at = ParseTimePoint(text);
  if (!at.ok()) return format::Error{"--at " + at.error().message};
  return std::optional<TimePoint>(*at);
}

ExitCode Export(const ExportOptions& options) {
  const ExportFormat& format = *FindExportFormat(options.format);
  auto filter = Filter::Parse(options.filter);
  if (!filter.ok()) return Fail(ExitCode::kUsage, filter.error().message);
  const auto at = ParseAt(options.at);
  if (!at.ok()) return Fail(ExitCode::kUsage, at.error().message);
  const std::string objection = Objection(options, format);
  if (!objection.empty()) return Fail(ExitCode::kUsage, objection);
  if (options.live && !filter->TakesAny(format::Stream::kAllocations)) {
    return Fail(ExitCode::kUsage,
                "--live exports heap objects only; for native memory use heaprec live --kind malloc with --csv or "
                "--json");
  }
  auto recordings = OpenRecordings(options.paths);
  if (!recordings.ok()) return Fail(ExitCode::kUnreadable, recordings.error().message);
  for (const auto& recording : *recordings) {
    if (recording->source().IsSameFileAs(options.output)) {
      return Fail(ExitCode::kCannotWrite, options.output + ": is the recording itself");
    }
  }
  const bool wants_heap = options.filter.kinds.empty() && !filter->TakesAny(format::Stream::kNative);
  if (wants_heap && std::ranges::none_of(*recordings, [](const auto& one) { return HasHeap(one->header()); })) {
    return Fail(ExitCode::kUnreadable, options.paths.front() + kNoHeap);
  }
  if (options.live && !AnyTracked(*recordings)) return Fail(ExitCode::kUnreadable, options.paths.front() + kNoLive);
  auto file = OutputFile::Open(options.output, options.force);
  if (!file.ok()) return Fail(ExitCode::kCannotWrite, file.error().message);

  Output output((*file)->descriptor());
  const ExportSettings settings{.several = recordings->size() > 1,
                                .allocations = filter->TakesAny(format::Stream::kAllocations) ||
                                               filter->TakesAny(format::Stream::kNative) ||
                                               filter->TakesAny(format::Stream::kMapping),
                                .exceptions = filter->TakesAny(format::Stream::kExceptions),
                                .live = AnyTracked(*recordings),
                                .live_filter = options.live,
                                .live_at = *at,
                                .weights = options.weights,
                                .hides = HiddenBy(*filter),
                                .service = options.service,
                                .raw = options.raw || options.live,
                                .lines = options.lines};
  std::unique_ptr<Exporter> exporter = format.make(settings, &output);
  if (options.live) exporter = MakeLiveFilter(settings, std::move(exporter));
  const auto beside = options.output == "-" ? Progress::Beside::kOutput : Progress::Beside::kNothing;
  const auto passed = Pass(*recordings, *filter, settings.raw ? Weights::kRaw : Weights::kCalibrated, exporter.get(),
                           beside, [&output] { return output.failed(); });
  if (const auto error = exporter->Finish()) return Fail(ExitCode::kCannotWrite, error->message);
  if (const auto failed = (*file)->Finish(&output)) return *failed;
  if (!format.takes_remarks && options.weights != "samples" && isatty(STDERR_FILENO) == 1) {
    PrintError(fmt::format("the exported weights are {}", WeightsName(settings)));
  }
  return Close(*recordings, passed);
}

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const ExportFormat& format : ExportFormats()) names.push_back(format.name);
  return names;
}

}  // namespace

Command ExportCommand() {
  auto options = std::make_shared<ExportOptions>();
  options->filter.allocations_only = true;  // tools that sum up a column expect one unit
  Command command("export", "Convert to pprof, JFR, collapsed, CSV, SQLite, OTLP");
  command.AddOption("REC", options->paths, "Recordings to read; - is standard input").Required();
  command
      .AddOption("--format", options->format,
                 fmt::format("Output format: {} (default: csv)", fmt::join(FormatNames(), ", ")))
      .Value("FORMAT")
      .OneOf(FormatNames());
  command.AddOption("-o,--output", options->output, "Output file; - is standard output (default)").Value("OUT");
  command.AddOption("--weights", options->weights, "Weights of collapsed stacks: bytes (default), objects or samples")
      .Value("WEIGHTS")
      .OneOf({"bytes", "objects", "samples"});
  command
      .AddOption("--service", options->service,
                 "Value of service.name (otlp; default: as recorded, or unknown_service:java)")
      .Value("NAME");
  command.AddFlag("--raw", options->raw,
                  "Write raw weights instead of weights calibrated to the exact counts (" +
                      FormatsThat(&ExportFormat::takes_raw) + ")");
  command.AddFlag("--lines", options->lines, "Distinguish the lines of a method (collapsed, speedscope)");
  command.AddFlag("--live", options->live,
                  "Export live objects instead of all allocations (csv, jsonl, collapsed, speedscope)");
  command.AddOption("--at", options->at, "Time at which to list live objects (default: the end)").Value("TIME");
  command.AddFlag("-f,--force", options->force, "Overwrite OUT if it exists");
  options->filter.AddTo(command);
  options->filter.AddStackChoiceTo(command);
  command.footer =
      R"(Columns of csv and jsonl: time_ns (epoch), kind, thread, class, size,
weight_bytes, weight_objects, probability, stack (root;...;leaf as
Class.method:line), labels (key=value;...; JSON lines: an object),
calibrated_bytes, calibrated_objects. The other formats have calibrated weights,
or raw weights with --raw.

Examples:
  heaprec export -o rec.csv app.hrec
  heaprec export --format jsonl --thread worker app.hrec | jq .class
  heaprec export --format csv -f -o rec.csv --from 10s --to 20s app.hrec
  heaprec export --kind exception -o thrown.csv app.hrec
  heaprec export --format collapsed app.hrec | flamegraph.pl > flame.svg
  heaprec export --live --at 60s --format collapsed app.hrec | flamegraph.pl > live.svg
  heaprec export --format pprof -o rec.pb.gz app.hrec && go tool pprof -http : rec.pb.gz
  heaprec export --format speedscope -o rec.json app.hrec && speedscope rec.json)";
  command.run = [options](const auto&) { return Export(*options); };
  return command;
}

}  // namespace heaprec::tools
