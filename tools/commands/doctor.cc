// heaprec doctor: can the numbers of these recordings be relied on, why, and what to do about it.
#include <memory>

#include "tools/analysis/health/diagnosis.h"
#include "tools/input/recording.h"
#include "tools/options/command.h"
#include "tools/render/print.h"
#include "tools/report/recording/reports.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

struct DoctorOptions {
  std::vector<std::string> paths;
  bool quiet = false;
  render::OutputOptions output;
};

ExitCode Doctor(const DoctorOptions& options) {
  const auto recordings = Recording::OpenAll(options.paths);
  if (!recordings.ok()) return Fail(ExitCode::kUnreadable, recordings.error().message);
  render::Report report("heaprec.doctor/1");
  bool all_well = true, any_damaged = false;
  for (const auto& recording : *recordings) {
    const std::vector<Finding> symptoms = Diagnose(recording.get());
    all_well = all_well && IsTrustworthy(symptoms);
    any_damaged = any_damaged || recording->damaged();
    report.Add(DoctorReport(*recording, symptoms, recordings->size() > 1, !options.quiet));
  }
  report.Add(render::Hidden({{"trustworthy", all_well}}));
  const ExitCode written = Print(report, options.output);
  if (written != ExitCode::kOk) return written;
  if (!all_well) return ExitCode::kCheckFailed;
  return any_damaged ? ExitCode::kDamaged : ExitCode::kOk;
}

}  // namespace

Command DoctorCommand() {
  auto options = std::make_shared<DoctorOptions>();
  Command command("doctor", "Explain whether the numbers are trustworthy");
  command.AddOption("REC", options->paths, "Recordings to read; - is standard input").Required();
  options->output.AddTo(command);
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
