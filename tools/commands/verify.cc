// heaprec verify: are these recordings whole and consistent?
#include <fmt/format.h>

#include <memory>

#include "tools/analysis/health/roll_up_check.h"
#include "tools/input/loss_summary.h"
#include "tools/options/command.h"
#include "tools/render/print.h"
#include "tools/report/recording/reports.h"
#include "tools/text/messages.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

struct VerifyOptions {
  std::vector<std::string> recordings;
  bool quiet = false;
  render::OutputOptions output;
};

// What is worst counts, in this order.
ExitCode Worse(ExitCode a, ExitCode b) {
  const auto rank = [](ExitCode code) {
    return code == ExitCode::kUnreadable ? 3 : code == ExitCode::kDamaged ? 2 : code == ExitCode::kCheckFailed ? 1 : 0;
  };
  return rank(b) > rank(a) ? b : a;
}

ExitCode VerifyOne(Recording* of, render::Report* report) {
  Recording& recording = *of;
  Verification verification(recording.header());
  while (const auto block = recording.Next()) verification.Look(*block, recording);
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

// A merged file holds several recordings.
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
