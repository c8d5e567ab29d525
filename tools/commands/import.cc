// heaprec import: a JFR file, of the JDK or async-profiler, as a recording.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/import/jfr/importer.h"
#include "tools/import/jfr/jfr_scan.h"
#include "tools/input/file_source.h"
#include "tools/options/command.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/output_file.h"
#include "tools/text/text.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

struct ImportOptions {
  std::string input, output, events = "auto";
  bool force = false, json = false, quiet = false;
};

uint64_t CountOf(const jfr::JfrScan& scan, jfr::EventSet set) {
  const auto found = scan.events.find(set);
  return found == scan.events.end() ? 0 : found->second;
}

// All sets count the same bytes: one of them is taken.
jfr::EventSet SetOf(const ImportOptions& options, const jfr::JfrScan& scan) {
  if (options.events != "tlab" && CountOf(scan, jfr::EventSet::kOwnSamples) > 0) return jfr::EventSet::kOwnSamples;
  if (options.events != "auto") return options.events == "tlab" ? jfr::EventSet::kTlabs : jfr::EventSet::kSamples;
  return CountOf(scan, jfr::EventSet::kSamples) > 0 ? jfr::EventSet::kSamples : jfr::EventSet::kTlabs;
}

void Tell(const ImportOptions& options, const format::FileHeader& header, const jfr::Imported& imported) {
  if (options.json) {
    Output output(STDOUT_FILENO);
    output.Append(nlohmann::json{{"output", ToUtf8(options.output)},
                                 {"samples", imported.samples},
                                 {"collections", imported.collections},
                                 {"old_objects", imported.old_objects},
                                 {"refused", imported.refused},
                                 {"source", header.source},
                                 {"source_reason", ToUtf8(header.source_reason)}}
                      .dump() +
                  "\n");
    output.Flush();
  } else if (!options.quiet) {
    PrintError(ToUtf8(fmt::format("{}: {} samples, {} collections and {} old objects from {}", options.output,
                                  Grouped(imported.samples), Grouped(imported.collections),
                                  Grouped(imported.old_objects), header.source_reason)));
  }
}

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
  Output output((*file)->descriptor());
  const auto imported = jfr::Import(source, header, scan, set, &output);
  if (!imported.ok()) return Fail(ExitCode::kUnreadable, source->name() + ": " + imported.error().message);
  if (const auto failed = (*file)->Finish(&output)) return *failed;
  Tell(options, header, *imported);
  return ReportDamage(source->name(), *imported);
}

ExitCode Import(const ImportOptions& options) {
  if (options.json && options.output == "-") {
    return Fail(ExitCode::kUsage, "--json and -o - both use standard output; name a file with -o");
  }
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
  const jfr::EventSet set = SetOf(options, scan);
  if (CountOf(scan, set) == 0) {
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
  command.AddOption("-o,--output", options->output, "Output file; - is standard output").Value("OUT").Required();
  command
      .AddOption("--events", options->events,
                 "Events to import: sample (jdk.ObjectAllocationSample), tlab (jdk.ObjectAllocationInNewTLAB and "
                 "-OutsideTLAB), or auto (default): sample events if the file has any, else tlab events")
      .Value("SET")
      .OneOf({"auto", "sample", "tlab"});
  command.AddFlag("-f,--force", options->force, "Overwrite OUT if it exists");
  command.AddFlag("--json", options->json, "Print a summary as JSON");
  command.AddFlag("-q,--quiet", options->quiet, "Do not print a summary line");
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
