// heaprec import: a JFR file, of the JDK or async-profiler, as a recording.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/export/output_file.h"
#include "tools/import/jfr/importer.h"
#include "tools/import/jfr/jfr_scan.h"
#include "tools/input/file_source.h"
#include "tools/options/command.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/text.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

struct ImportOptions {
  std::string input, output, events = "auto";
  bool force = false, json = false, quiet = false;
};

ExitCode Fail(ExitCode code, const std::string& sentence) {
  Complain(ToUtf8(sentence));
  return code;
}

uint64_t CountOf(const jfr::Survey& survey, jfr::EventSet set) {
  const auto found = survey.events.find(set);
  return found == survey.events.end() ? 0 : found->second;
}

// All sets count the same bytes: one of them is taken.
jfr::EventSet SetOf(const ImportOptions& options, const jfr::Survey& survey) {
  if (options.events != "tlab" && CountOf(survey, jfr::EventSet::kOwnSamples) > 0) return jfr::EventSet::kOwnSamples;
  if (options.events != "auto") return options.events == "tlab" ? jfr::EventSet::kTlabs : jfr::EventSet::kSamples;
  return CountOf(survey, jfr::EventSet::kSamples) > 0 ? jfr::EventSet::kSamples : jfr::EventSet::kTlabs;
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
    Complain(ToUtf8(fmt::format("{}: {} samples, {} collections and {} old objects of {}", options.output,
                                Grouped(imported.samples), Grouped(imported.collections), Grouped(imported.old_objects),
                                header.source_reason)));
  }
}

ExitCode ReportDamage(const std::string& name, const jfr::Imported& imported) {
  if (imported.refused > 0) {
    Complain(fmt::format("{}: {} events that cannot be read, or stand for no bytes, were left out", ToUtf8(name),
                         Grouped(imported.refused)));
  }
  if (!imported.damage) return ExitCode::kOk;
  Complain(fmt::format("{}: offset {}: {}; what stands from there on is not imported", ToUtf8(name),
                       imported.damage->begin, imported.damage->why));
  return ExitCode::kDamaged;
}

ExitCode WriteRecording(const ImportOptions& options, const jfr::Survey& survey, jfr::EventSet set,
                        FileSource* source) {
  const format::FileHeader header = jfr::HeaderOf(survey, set);
  auto file = OutputFile::Open(options.output, options.force);
  if (!file.ok()) return Fail(ExitCode::kCannotWrite, file.error().message);
  Output output((*file)->descriptor());
  const auto imported = jfr::Import(source, header, survey, set, &output);
  if (!imported.ok()) return Fail(ExitCode::kUnreadable, source->name() + ": " + imported.error().message);
  output.Flush();
  const ExitCode written = output.Report(options.output == "-" ? "standard output" : options.output);
  if (written != ExitCode::kOk || output.failed()) return written;
  if (const auto error = (*file)->Commit()) return Fail(ExitCode::kCannotWrite, error->message);
  Tell(options, header, *imported);
  return ReportDamage(source->name(), *imported);
}

ExitCode Import(const ImportOptions& options) {
  if (options.json && options.output == "-") {
    return Fail(ExitCode::kUsage, "--json and -o -: both go to standard output");
  }
  auto source = FileSource::Open(options.input);
  if (!source.ok()) return Fail(ExitCode::kUnreadable, source.error().message);
  if ((*source)->IsSameFileAs(options.output)) {
    return Fail(ExitCode::kCannotWrite, options.output + ": is the file that is read");
  }
  const jfr::Survey survey = jfr::SurveyOf(source->get());
  const std::string& name = (*source)->name();
  if (survey.chunks == 0) {
    return Fail(ExitCode::kUnreadable, fmt::format("{}: {}", name, survey.damage ? survey.damage->why : "is empty"));
  }
  const jfr::EventSet set = SetOf(options, survey);
  if (CountOf(survey, set) == 0) {
    return Fail(ExitCode::kUnreadable,
                name +
                    ": no events of allocations in it; JFR has them with settings=profile, or with "
                    "jdk.ObjectAllocationSample#enabled=true; async-profiler with event=alloc");
  }
  return WriteRecording(options, survey, set, source->get());
}

}  // namespace

Command ImportCommand() {
  auto options = std::make_shared<ImportOptions>();
  Command command("import", "Make a recording of a JFR file, of the JDK or async-profiler");
  command.AddOption("JFR", options->input, "The JFR file; - is standard input").Required();
  command.AddOption("-o,--output", options->output, "Where to; - is standard output").Value("OUT").Required();
  command
      .AddOption("--events", options->events,
                 "Which events count: sample (jdk.ObjectAllocationSample), tlab (jdk.ObjectAllocationInNewTLAB and "
                 "-OutsideTLAB), or auto: sample if there are any (default)")
      .Value("SET")
      .OneOf({"auto", "sample", "tlab"});
  command.AddFlag("-f,--force", options->force, "Overwrite OUT if it exists");
  command.AddFlag("--json", options->json, "Say as JSON what was written");
  command.AddFlag("-q,--quiet", options->quiet, "Do not say what was written");
  command.footer =
      R"(The weights stay those of the file, which are biased: intervals show chance alone, and summary says so.

Examples:
  heaprec import app.jfr -o app.bin && heaprec summary app.bin
  heaprec import --events tlab app.jfr -o app.bin)";
  command.run = [options](const auto&) { return Import(*options); };
  return command;
}

}  // namespace heaprec::tools
