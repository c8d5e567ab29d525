// heaprec doctor: can the numbers of these recordings be relied on, why, and what to do about it.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/analysis/health/diagnosis.h"
#include "tools/commands/export_pipeline.h"
#include "tools/input/loss_summary.h"
#include "tools/input/writer_process.h"
#include "tools/options/command.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/text.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

struct DoctorOptions {
  std::vector<std::string> paths;
  bool json = false, quiet = false;
};

// Reads the recording to its end.
std::vector<Symptom> Examine(Recording* recording) {
  const format::FileHeader& header = recording->header();
  format::PerStream<Tally> tallies{{Tally(header.interval_ns),
                                    Tally(header.exceptions.interval_ns, format::Stream::kExceptions),
                                    Tally(header.native.interval_ns, format::Stream::kNative),
                                    Tally(header.mapped.interval_ns, format::Stream::kMapped)}};
  VolumeOfBlocks volume(header);
  Verification verification(header);
  Completeness completeness;
  while (const auto block = recording->Next()) {
    for (const format::Stream stream : format::kAllStreams) tallies[stream].Add(*block);
    volume.Add(*block);
    verification.Look(*block, *recording);
    completeness.Add(*block);
  }
  verification.Close(*recording);
  const Volume total = volume.Close(recording->books());
  return Diagnose({*recording, tallies, total, verification, completeness, WallClockMoved(header)});
}

size_t CountOf(const std::vector<Symptom>& symptoms, Level level) {
  return static_cast<size_t>(std::ranges::count(symptoms, level, &Symptom::level));
}

bool IsTrustworthy(const std::vector<Symptom>& symptoms) { return CountOf(symptoms, Level::kProblem) == 0; }

std::string Verdict(const std::vector<Symptom>& symptoms) {
  std::string verdict = IsTrustworthy(symptoms) ? "yes" : "no";
  for (const Level level : {Level::kProblem, Level::kWarning, Level::kNote}) {
    const size_t count = CountOf(symptoms, level);
    if (count > 0) verdict += fmt::format(", {} {}{}", count, LevelName(level), count == 1 ? "" : "s");
  }
  return verdict;
}

// "  means:  ..."
void AppendAdvice(const char* name, const std::string& text, Text* into) {
  if (!text.empty()) fmt::format_to(fmt::appender(*into), "         {:<7}{}\n", name, text);
}

void AppendText(const std::vector<Symptom>& symptoms, bool with_ok, Text* into) {
  for (const Symptom& symptom : symptoms) {
    if (symptom.level == Level::kOk && !with_ok) continue;
    fmt::format_to(fmt::appender(*into), "{:<9}{}: ", LevelName(symptom.level), symptom.id);
    AppendPrintable(*into, symptom.what);
    into->push_back('\n');
    AppendAdvice("means:", symptom.means, into);
    AppendAdvice("do:", symptom.todo, into);
  }
}

json AsJson(const Recording& recording, const std::vector<Symptom>& symptoms) {
  json findings = json::array();
  for (const Symptom& symptom : symptoms) {
    json finding = {{"id", symptom.id}, {"level", LevelName(symptom.level)}, {"what", symptom.what}};
    finding["value"] = symptom.value ? json(*symptom.value) : json();
    finding["means"] = symptom.means;
    finding["do"] = symptom.todo;
    findings.push_back(std::move(finding));
  }
  return {{"file", recording.source().name()},
          {"recording", HeaderAsJson(recording.header())},
          {"trustworthy", IsTrustworthy(symptoms)},
          {"findings", findings}};
}

ExitCode Doctor(const DoctorOptions& options) {
  const auto recordings = OpenRecordings(options.paths);
  if (!recordings.ok()) {
    Complain(recordings.error().message);
    return ExitCode::kUnreadable;
  }
  Output output(STDOUT_FILENO);
  json documents = json::array();
  bool all_well = true, any_damaged = false;
  for (size_t i = 0; i < recordings->size(); ++i) {
    Recording& recording = *(*recordings)[i];
    const std::vector<Symptom> symptoms = Examine(&recording);
    all_well = all_well && IsTrustworthy(symptoms);
    any_damaged = any_damaged || recording.damaged();
    if (options.json) {
      documents.push_back(AsJson(recording, symptoms));
      continue;
    }
    Text& text = output.text();
    if (recordings->size() > 1) {
      fmt::format_to(fmt::appender(text), "{}{}: {}: ", i > 0 ? "\n" : "", ToUtf8(recording.source().name()),
                     IdText(recording.header()));
    }
    fmt::format_to(fmt::appender(text), "trustworthy: {}\n", Verdict(symptoms));
    AppendText(symptoms, !options.quiet, &text);
  }
  if (options.json) {
    const json document = {{"trustworthy", all_well}, {"recordings", documents}};
    output.Append(document.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  }
  output.Flush();
  const ExitCode written = output.Report("standard output");
  if (written != ExitCode::kOk) return written;
  if (!all_well) return ExitCode::kCheckFailed;
  return any_damaged ? ExitCode::kDamaged : ExitCode::kOk;
}

}  // namespace

Command DoctorCommand() {
  auto options = std::make_shared<DoctorOptions>();
  Command command("doctor", "Explain whether the numbers are trustworthy");
  command.AddOption("REC", options->paths, "Recordings to read; - is standard input").Required();
  command.AddFlag("--json", options->json, "Print JSON");
  command.AddFlag("-q,--quiet", options->quiet, "Print only notes, warnings and problems");
  command.footer =
      R"(The first line is the verdict. Exit code 0: all recordings are trustworthy; 1:
one is not; 3: one cannot be read.

Examples:
  heaprec doctor app.hrec
  heaprec doctor -q *.hrec
  heaprec doctor --json app.hrec | jq '.recordings[].findings[] | select(.level == "problem")')";
  command.run = [options](const auto&) { return Doctor(*options); };
  return command;
}

}  // namespace heaprec::tools
