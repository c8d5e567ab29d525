// heaprec import: converts a JFR file, of the JDK or async-profiler, to a recording.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "tools/commands/rewrite_command.h"
#include "tools/import/jfr/importer.h"
#include "tools/input/file_source.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

struct ImportOptions : WriteOptions {
  std::string input, events = "auto";
};

ExitCode ReportDamage(const std::string& name, const jfr::Imported& imported) {
  if (imported.refused > 0) {
    PrintError(fmt::format("{}: skipped {} events that cannot be read or have no weight", ToUtf8(name),
                           Grouped(imported.refused)));
  }
  if (!imported.damage) return ExitCode::kOk;
  return Fail(ExitCode::kDamaged, fmt::format("{}: offset {}: {}; the rest of the file is not imported", ToUtf8(name),
                                              imported.damage->begin, imported.damage->why));
}

ExitCode WriteRecording(const ImportOptions& options, const jfr::JfrScan& scan, jfr::EventSet set, FileSource* source) {
  const format::FileHeader header = jfr::HeaderOf(scan, set);
  auto file = OutputFile::Open(options.output, options.force);
  if (!file.ok()) return Fail(ExitCode::kCannotWrite, file.error().message);
  const auto imported = jfr::Import(source, header, scan, set, &(*file)->output());
  if (!imported.ok()) return Fail(ExitCode::kUnreadable, source->name() + ": " + imported.error().message);
  if (const auto failed = (*file)->Finish()) return *failed;
  const ExitCode told =
      options.Tell({{"collections", imported->collections},
                    {"old_objects", imported->old_objects},
                    {"output", ToUtf8(options.output)},
                    {"paths", imported->paths},
                    {"refused", imported->refused},
                    {"samples", imported->samples},
                    {"source", header.source},
                    {"source_reason", ToUtf8(header.source_reason)}},
                   fmt::format("{}: {}, {} and {} from {}", options.output, CountOf(imported->samples, "sample"),
                               CountOf(imported->collections, "collection"),
                               CountOf(imported->old_objects, "old object"), header.source_reason));
  const ExitCode read = ReportDamage(source->name(), *imported);
  return read != ExitCode::kOk ? read : told;
}

ExitCode Import(const ImportOptions& options) {
  if (const auto objection = options.Objection()) return *objection;
  auto source = FileSource::Open(options.input);
  if (!source.ok()) return Fail(ExitCode::kUnreadable, source.error().message);
  if ((*source)->IsSameFileAs(options.output)) {
    return Fail(ExitCode::kCannotWrite, options.output + ": is the input file; choose another output file");
  }
  const jfr::JfrScan scan = jfr::ScanOf(source->get());
  const std::string& name = (*source)->name();
  if (scan.chunks == 0) {
    return Fail(ExitCode::kUnreadable,
                fmt::format("{}: {}", name, scan.damage ? scan.damage->why : "the file is empty"));
  }
  const jfr::EventSet set = scan.Choose(options.events);
  if (scan.Count(set) == 0) {
    return Fail(ExitCode::kUnreadable,
                name +
                    ": no allocation events; record with settings=profile or "
                    "jdk.ObjectAllocationSample#enabled=true (JFR), or with event=alloc (async-profiler)");
  }
  return WriteRecording(options, scan, set, source->get());
}

}  // namespace

Command ImportCommand() {
  auto options = std::make_shared<ImportOptions>();
  Command command("import", "Convert a JFR file (JDK or async-profiler)");
  command.AddOption("JFR", options->input, "JFR file to read; - is standard input").Required();
  options->AddOutputTo(command);
  command
      .AddOption("--events", options->events,
                 "Events to import: sample (jdk.ObjectAllocationSample), tlab (jdk.ObjectAllocationInNewTLAB and "
                 "-OutsideTLAB), or auto (default): sample events if the file has any, else tlab events")
      .Value("SET")
      .OneOf({"auto", "sample", "tlab"});
  options->AddFlagsTo(command);
  command.footer =
      R"(The weights are the file's, which are biased. Intervals show sampling error
only; 'heaprec summary' reports this.

Examples:
  heaprec import app.jfr -o app.hrec && heaprec summary app.hrec
  heaprec import --events tlab app.jfr -o app.hrec)";
  command.run = [options](const auto&) { return Import(*options); };
  return command;
}

}  // namespace heaprec::tools
