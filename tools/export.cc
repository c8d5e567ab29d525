// heaprec export: the events as rows for other tools.
#include <unistd.h>

#include <map>
#include <memory>

#include "tools/closing.h"
#include "tools/complain.h"
#include "tools/export/output_file.h"
#include "tools/export/row_format.h"
#include "tools/filter.h"
#include "tools/input/recording.h"
#include "tools/render/output.h"
#include "tools/verb.h"

namespace heaprec::tools {
namespace {

struct ExportOptions {
  std::string recording, output = "-", format = "csv";
  bool force = false;
  FilterOptions filter;
};

// A new row format is one more line here.
const std::map<std::string, std::unique_ptr<RowFormat> (*)()>& Formats() {
  static const auto* formats =
      new std::map<std::string, std::unique_ptr<RowFormat> (*)()>{{"csv", MakeCsv}, {"jsonl", MakeJsonl}};
  return *formats;
}

// `id`: of the recording, empty if there is one only. `rows`: those of the recordings before.
uint64_t WriteRows(Recording& recording, const std::string& id, uint64_t rows, Filter filter, const RowFormat& format,
                   Output& output) {
  Names names;
  FoldedStacks stacks(&format);
  filter.Start(recording.header());
  while (rows < filter.limit() && !output.failed()) {
    const auto block = recording.Next();
    if (!block) break;
    names.Enter(*block);
    filter.Enter(*block, &names);
    stacks.Enter(*block, &names);
    for (const format::Sample& sample : block->samples) {
      if (rows == filter.limit()) break;
      if (!filter.Keeps(sample)) continue;
      const format::Thread* const thread = names.ThreadOf(sample.thread);
      format.AppendRow({recording.header().start_epoch_ns + sample.time_ns, &sample, names.Thread(sample.thread),
                        names.Class(sample.class_id), stacks.Of(sample.stack),
                        thread != nullptr ? std::string_view(thread->name) : std::string_view(), id},
                       output.text());
      ++rows;
      output.Tick();
    }
  }
  return rows;
}

ExitCode Fail(ExitCode code, const std::string& sentence) {
  Complain(sentence);
  return code;
}

ExitCode Export(const ExportOptions& options) {
  auto filter = Filter::Parse(options.filter);
  if (!filter.ok()) return Fail(ExitCode::kUsage, filter.error().message);
  auto recordings = Recording::OpenAll(options.recording);
  if (!recordings.ok()) return Fail(ExitCode::kUnreadable, recordings.error().message);
  if (recordings->front()->source().IsSameFileAs(options.output)) {
    return Fail(ExitCode::kCannotWrite, options.output + ": is the recording itself");
  }
  auto file = OutputFile::Open(options.output, options.force);
  if (!file.ok()) return Fail(ExitCode::kCannotWrite, file.error().message);

  Output output((*file)->descriptor());
  const std::unique_ptr<RowFormat> format = Formats().at(options.format)();
  const bool several = recordings->size() > 1;
  format->AppendHeader(several, output.text());
  std::vector<uint64_t> rows{0};
  for (const auto& recording : *recordings) {
    const std::string id = several ? IdText(recording->header()) : "";
    rows.push_back(WriteRows(*recording, id, rows.back(), *filter, *format, output));
  }
  output.Flush();
  const ExitCode written = output.Report(options.output == "-" ? "standard output" : options.output);
  if (written != ExitCode::kOk || output.failed()) return written;
  if (const auto error = (*file)->Commit()) return Fail(ExitCode::kCannotWrite, error->message);
  ExitCode read = ExitCode::kOk;
  for (size_t i = 0; i < recordings->size(); ++i) {
    const Recording& recording = *(*recordings)[i];
    // The rows stay pure: on a terminal the loss line goes to stderr.
    if (isatty(STDERR_FILENO) == 1) Complain(LossLine(recording, rows[i + 1] - rows[i]).substr(2));
    const ExitCode one = ReportDamage(recording);
    if (one != ExitCode::kOk) read = one;
  }
  return read;
}

}  // namespace

Verb DeclareExport(CLI::App& heaprec) {
  auto options = std::make_shared<ExportOptions>();
  options->filter.allocations_only = true;  // tools that sum up a column expect one unit
  CLI::App* verb = heaprec.add_subcommand("export", "Write the events as rows for other tools");
  std::vector<std::string> formats;
  for (const auto& [name, make] : Formats()) formats.push_back(name);
  verb->add_option("REC", options->recording, "The recording; - is standard input")->type_name("")->required();
  verb->add_option("--format", options->format, "csv or jsonl (default: csv)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember(formats));
  verb->add_option("-o,--output", options->output, "Where to; - is standard output (default)")->type_name("OUT");
  verb->add_flag("-f,--force", options->force, "Overwrite OUT if it exists");
  options->filter.AddTo(verb);
  verb->footer(R"(Columns: time_ns (epoch), kind, thread, class, size, weight_bytes, weight_objects, probability,
stack (root;...;leaf as Class.method:line), labels (key=value;...; JSON lines: an object).

Examples:
  heaprec export -o rec.csv rec.bin
  heaprec export --format jsonl --thread worker rec.bin | jq .class
  heaprec export --format csv -f -o rec.csv --from 10s --to 20s rec.bin
  heaprec export --kind exception -o thrown.csv rec.bin)");
  return {verb, [options](const auto&) { return Export(*options); }};
}

}  // namespace heaprec::tools
