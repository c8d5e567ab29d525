// heaprec export: converts recordings to the formats of other tools.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "tools/export/exporter.h"
#include "tools/export/formats/formats.h"
#include "tools/export/live_samples.h"
#include "tools/input/stream_traits.h"
#include "tools/options/command.h"
#include "tools/query/filter/event_filter.h"
#include "tools/query/live/live_query.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"

namespace heaprec::tools {
namespace {

struct ExportOptions {
  std::vector<std::string> paths;
  std::string output = "-", format, at;
  bool force = false;
  ExportSettings settings;
  FilterOptions filter;
};

// Name endings for which CSV, the default for unknown endings, would be a surprise.
constexpr const char* kOtherEndings[] = {".svg", ".html", ".json", ".gz", ".pb", ".pprof", ".sqlite"};

// Returns why the options are invalid; empty: they are valid.
std::string Objection(const ExportOptions& options, const ExportSettings& settings, const ExportFormat& format,
                      const Filter& filter) {
  if (std::string wrong = format.Objection(settings, filter); !wrong.empty()) return wrong;
  const bool is_csv_by_default = options.format.empty() && !options.output.ends_with(format.ending);
  for (const char* const ending : kOtherEndings) {
    if (!is_csv_by_default || !options.output.ends_with(ending)) continue;
    return fmt::format(
        "{}: no single format has this ending; name one with --format ({}); heaprec flame writes .svg, "
        "heaprec report .html",
        options.output, fmt::join(ExportFormatNames(), ", "));
  }
  if (settings.live_filter && options.filter.limit) return "--live and --limit exclude each other";
  if (format.Has(ExportFormat::kBinary) && options.output == "-" && isatty(STDOUT_FILENO) == 1) {
    return format.name + ": binary output is not written to a terminal; name a file with -o";
  }
  return {};
}

ExitCode Export(const ExportOptions& options) {
  const ExportFormat& format = ExportFormatFor(options.format, options.output);
  auto filter = Filter::Parse(options.filter);
  if (!filter.ok()) return Fail(ExitCode::kUsage, filter.error().message);
  const auto native = std::ranges::find_if(kStreamTraits, [&](const StreamTraits& one) {
    return !one.lifecycle.is_collected && filter->TakesAny(one.stream);
  });
  const bool has_heap = native == kStreamTraits.end() || filter->TakesAny(format::Stream::kAllocations);
  const auto choice =
      ParseLiveChoice(options.at, 0, options.paths, has_heap ? format::Stream::kAllocations : native->stream);
  if (!choice.ok()) return Fail(ExitCode::kUsage, choice.error().message);
  ExportSettings settings = options.settings;
  settings.live_at = choice->at;
  settings.live_survived = choice->survived;
  settings.hides = filter->hides();
  const std::string wrong = Objection(options, settings, format, *filter);
  if (!wrong.empty()) return Fail(ExitCode::kUsage, wrong);
  auto recordings = Recording::OpenAll(options.paths);
  if (!recordings.ok()) return Fail(ExitCode::kUnreadable, recordings.error().message);
  if (IsOneOf(options.output, options.paths))
    return Fail(ExitCode::kCannotWrite, options.output + ": is the recording itself");
  const bool wants_heap = options.filter.kinds.empty() && !filter->TakesAny(format::Stream::kNative);
  if (wants_heap && std::ranges::none_of(*recordings, [](const auto& one) { return HasHeap(one->header()); }))
    return Fail(ExitCode::kUnreadable, options.paths.front() + kNoHeap);
  settings = SettingsFor(settings, *recordings, *filter);
  if (settings.live_filter && !settings.live)
    return Fail(ExitCode::kUnreadable,
                options.paths.front() + TraitsOf(settings.streams.front()).lifecycle.not_tracked);
  if (const Status known = CheckSurvivors(settings.live_survived, options.paths); !known)
    return Fail(ExitCode::kUnreadable, known.error().message);
  auto file = OutputFile::Open(options.output, options.force);
  if (!file.ok()) return Fail(ExitCode::kCannotWrite, file.error().message);
  Output& output = (*file)->output();
  std::unique_ptr<Exporter> exporter = format.make(settings, &output);
  if (settings.live_filter) exporter = MakeLiveFilter(settings, std::move(exporter));
  const auto stdout_use = options.output == "-" ? Progress::StdoutUse::kOutput : Progress::StdoutUse::kNothing;
  const auto stop = [&output] { return output.failed(); };
  const CalibratedTo to = settings.raw                                           ? CalibratedTo::kNothing
                          : format.Has(ExportFormat::kRows) && !settings.no_rows ? CalibratedTo::kRows
                          : format.Has(ExportFormat::kRowTable)                  ? CalibratedTo::kCountsApart
                                                                                 : CalibratedTo::kCounts;
  const auto exported = ExportAll(*recordings, {*filter, to, stdout_use, stop, settings.live_at}, exporter.get());
  if (const Status finished = exporter->Finish(); !finished)
    return Fail(ExitCode::kCannotWrite, finished.error().message);
  if (const auto failed = (*file)->Finish()) return *failed;
  if (!format.Has(ExportFormat::kRemarks) && settings.weights != "samples" && isatty(STDERR_FILENO) == 1) {
    PrintError(fmt::format("the exported weights are {}", WeightsName(settings)));
  }
  return Close(*recordings, exported);
}

}  // namespace

Command ExportCommand() {
  auto options = std::make_shared<ExportOptions>();
  options->filter.allocations_only = true;  // tools that sum a column expect a single unit
  Command command("export", "Convert to pprof, JFR, collapsed, CSV, SQLite, OTLP");
  command.AddOption("REC", options->paths, "Recordings to read; - is standard input").Required();
  command
      .AddOption("--format", options->format,
                 fmt::format("Format: {} (default: by OUT's ending, else csv)", fmt::join(ExportFormatNames(), ", ")))
      .Value("FORMAT")
      .OneOf(ExportFormatNames());
  command.AddOption("-o,--output", options->output, "Output file; - is standard output (default)").Value("OUT");
  AddExportOptions(command, &options->settings);
  command
      .AddOption("--at", options->at,
                 "Time at which to list live objects, or peak: when the heap was fullest after a collection (default: "
                 "the end)")
      .Value("TIME");
  command.AddFlag("-f,--force", options->force, "Overwrite the output file if it exists");
  options->filter.AddTo(command);
  options->filter.AddStackChoiceTo(command);
  command.footer =
      R"(Columns of csv and jsonl: time_ns (epoch), kind, thread, class, size,
weight_bytes, weight_objects, probability, stack (root;...;leaf), labels,
calibrated_bytes, calibrated_objects. Other formats have calibrated weights, or
raw weights with --raw.

Examples:
  heaprec export -o rec.csv app.hrec
  heaprec export --format jsonl --thread worker app.hrec | jq .class
  heaprec export -f -o rec.csv --from 10s --to 20s app.hrec
  heaprec export --kind exception -o thrown.csv app.hrec
  heaprec export --format collapsed app.hrec | flamegraph.pl > flame.svg
  heaprec export --live --at 60s --format collapsed app.hrec | flamegraph.pl > live.svg
  heaprec export -o rec.pb.gz app.hrec && go tool pprof -http : rec.pb.gz
  heaprec export --format speedscope -o rec.json app.hrec && speedscope rec.json)";
  command.run = [options](const auto&) { return Export(*options); };
  return command;
}

}  // namespace heaprec::tools
