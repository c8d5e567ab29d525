// heaprec doctor: explains whether the numbers are trustworthy.
// heaprec verify: checks files for damage and inconsistencies.
#include <fmt/format.h>

#include <memory>

#include "tools/analysis/health/diagnosis.h"
#include "tools/analysis/health/verification.h"
#include "tools/input/loss_summary.h"
#include "tools/input/recording.h"
#include "tools/options/command.h"
#include "tools/render/print.h"
#include "tools/report/recording/reports.h"
#include "tools/text/messages.h"
#include "tools/text/text.h"

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

struct VerifyOptions {
  std::vector<std::string> recordings;
  bool quiet = false;
  render::OutputOptions output;
};

// Returns the worse code, in this order.
ExitCode Worse(ExitCode a, ExitCode b) {
  const auto rank = [](ExitCode code) {
    return code == ExitCode::kUnreadable ? 3 : code == ExitCode::kDamaged ? 2 : code == ExitCode::kCheckFailed ? 1 : 0;
  };
  return rank(b) > rank(a) ? b : a;
}

ExitCode VerifyOne(Recording* of, render::Report* report) {
  Recording& recording = *of;
  Verification verification(recording.header());
  Walk(of, [&](const format::Block& block) { verification.Look(block, recording); });
  verification.Close(recording);
  CheckRollUps(recording, [&](uint64_t offset, std::string what) { verification.Find(offset, std::move(what)); });
  for (const Inconsistency& finding : verification.findings()) {
    PrintError(fmt::format("{}: offset {}: {}", recording.source().name(), finding.offset, finding.what));
  }
  if (verification.more_findings() > 0) {
    PrintError(fmt::format("{}: and {} more", recording.source().name(), Grouped(verification.more_findings())));
  }
  ReportDamage(recording);
  report->Add(VerifyReport(recording, verification));
  return VerdictOf(recording, verification);
}

// A merged file contains several recordings.
ExitCode VerifyFile(const std::string& path, render::Report* report) {
  const auto opened = Recording::OpenAll(path);
  if (!opened.ok()) {
    PrintError(opened.error().message);
    report->Add(UnreadableReport(path, opened.error().message));
    return ExitCode::kUnreadable;
  }
  ExitCode worst = ExitCode::kOk;
  for (const auto& recording : *opened) worst = Worse(worst, VerifyOne(recording.get(), report));
  return worst;
}

ExitCode Verify(const VerifyOptions& options) {
  render::Report report("heaprec.verify/1");
  ExitCode worst = ExitCode::kOk;
  for (const std::string& path : options.recordings) worst = Worse(worst, VerifyFile(path, &report));
  if (options.quiet && options.output.form() == render::Form::kText) return worst;
  return Print(report, options.output, worst);
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

Command VerifyCommand() {
  auto options = std::make_shared<VerifyOptions>();
  Command command("verify", "Check files for damage and inconsistencies");
  command.joins_parts = false;
  command.AddOption("REC", options->recordings, "Recordings to read; - is standard input").Required();
  options->output.AddTo(command);
  command.AddFlag("-q,--quiet", options->quiet, "Print errors only");
  command.footer =
      R"(Exit code 0: no errors; 1: a recording is inconsistent; 3: a recording cannot be
read; 4: damaged bytes.

Examples:
  heaprec verify app.hrec
  heaprec verify -q *.hrec)";
  command.run = [options](const auto&) { return Verify(*options); };
  return command;
}

}  // namespace heaprec::tools
