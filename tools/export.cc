// heaprec export: the events in the formats of other tools.
#include <fmt/format.h>
#include <unistd.h>

#include <iterator>
#include <memory>

#include "tools/closing.h"
#include "tools/complain.h"
#include "tools/export/exporter.h"
#include "tools/export/formats.h"
#include "tools/export/output_file.h"
#include "tools/filter.h"
#include "tools/input/recording.h"
#include "tools/render/output.h"
#include "tools/verb.h"

namespace heaprec::tools {
namespace {

using Recordings = std::vector<std::unique_ptr<Recording>>;

struct ExportOptions {
  std::vector<std::string> paths;
  std::string output = "-", format = ExportFormats().front().name;
  bool force = false;
  FilterOptions filter;
};

ExitCode Fail(ExitCode code, const std::string& sentence) {
  Complain(sentence);
  return code;
}

// `before`: events of the recordings before it. Returns those with its own.
uint64_t Pass(Recording& recording, uint64_t before, Filter filter, const Output& output, Exporter* exporter) {
  uint64_t events = before;
  Names names;
  std::vector<const format::Sample*> samples;
  filter.Start(recording.header());
  exporter->Begin(recording);
  while (events < filter.limit() && !output.failed()) {
    const auto block = recording.Next();
    if (!block) break;
    names.Enter(*block);
    filter.Enter(*block, &names);
    samples.clear();
    for (const format::Sample& sample : block->samples) {
      if (events + samples.size() == filter.limit()) break;
      if (filter.Keeps(sample)) samples.push_back(&sample);
    }
    exporter->Add({*block, samples, names});
    events += samples.size();
  }
  exporter->End(recording);
  return events;
}

// The recordings of all files, in their order; an error also if the output is one of them.
ExitCode OpenAll(const ExportOptions& options, Recordings* into) {
  for (const std::string& path : options.paths) {
    auto recordings = Recording::OpenAll(path);
    if (!recordings.ok()) return Fail(ExitCode::kUnreadable, recordings.error().message);
    if (recordings->front()->source().IsSameFileAs(options.output)) {
      return Fail(ExitCode::kCannotWrite, options.output + ": is the recording itself");
    }
    std::move(recordings->begin(), recordings->end(), std::back_inserter(*into));
  }
  return ExitCode::kOk;
}

// `events`: so many of the recordings before each, and of all.
ExitCode Close(const Recordings& recordings, const std::vector<uint64_t>& events) {
  ExitCode read = ExitCode::kOk;
  for (size_t i = 0; i < recordings.size(); ++i) {
    // The output stays pure: on a terminal the loss line goes to stderr.
    if (isatty(STDERR_FILENO) == 1) Complain(LossLine(*recordings[i], events[i + 1] - events[i]).substr(2));
    const ExitCode one = ReportDamage(*recordings[i]);
    if (one != ExitCode::kOk) read = one;
  }
  return read;
}

ExitCode Export(const ExportOptions& options) {
  const ExportFormat& format = *FindExportFormat(options.format);
  auto filter = Filter::Parse(options.filter);
  if (!filter.ok()) return Fail(ExitCode::kUsage, filter.error().message);
  if (format.binary && options.output == "-" && isatty(STDOUT_FILENO) == 1) {
    return Fail(ExitCode::kUsage, format.name + " is not for terminals: name a file with -o");
  }
  Recordings recordings;
  const ExitCode opened = OpenAll(options, &recordings);
  if (opened != ExitCode::kOk) return opened;
  auto file = OutputFile::Open(options.output, options.force);
  if (!file.ok()) return Fail(ExitCode::kCannotWrite, file.error().message);

  Output output((*file)->descriptor());
  const std::unique_ptr<Exporter> exporter = format.make({.several = recordings.size() > 1}, &output);
  std::vector<uint64_t> events{0};
  for (const auto& recording : recordings) {
    events.push_back(Pass(*recording, events.back(), *filter, output, exporter.get()));
  }
  if (const auto error = exporter->Finish()) return Fail(ExitCode::kCannotWrite, error->message);
  output.Flush();
  const ExitCode written = output.Report(options.output == "-" ? "standard output" : options.output);
  if (written != ExitCode::kOk || output.failed()) return written;
  if (const auto error = (*file)->Commit()) return Fail(ExitCode::kCannotWrite, error->message);
  return Close(recordings, events);
}

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const ExportFormat& format : ExportFormats()) names.push_back(format.name);
  return names;
}

}  // namespace

Verb DeclareExport(CLI::App& heaprec) {
  auto options = std::make_shared<ExportOptions>();
  options->filter.allocations_only = true;  // tools that sum up a column expect one unit
  CLI::App* verb = heaprec.add_subcommand("export", "Write the events in the formats of other tools");
  verb->add_option("REC", options->paths, "The recordings; - is standard input")->type_name("")->required();
  verb->add_option("--format", options->format, fmt::format("One of {} (default: csv)", fmt::join(FormatNames(), ", ")))
      ->type_name("FORMAT")
      ->check(CLI::IsMember(FormatNames()));
  verb->add_option("-o,--output", options->output, "Where to; - is standard output (default)")->type_name("OUT");
  verb->add_flag("-f,--force", options->force, "Overwrite OUT if it exists");
  options->filter.AddTo(verb);
  verb->footer(
      R"(Columns of csv and jsonl: time_ns (epoch), kind, thread, class, size, weight_bytes, weight_objects, probability,
stack (root;...;leaf as Class.method:line), labels (key=value;...; JSON lines: an object).

Examples:
  heaprec export -o rec.csv rec.bin
  heaprec export --format jsonl --thread worker rec.bin | jq .class
  heaprec export --format csv -f -o rec.csv --from 10s --to 20s rec.bin
  heaprec export --kind exception -o thrown.csv rec.bin)");
  return {verb, [options](const auto&) { return Export(*options); }};
}

}  // namespace heaprec::tools
