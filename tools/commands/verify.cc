// heaprec verify: are these recordings whole, and true to their own books?
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tools/analysis/health/verification.h"
#include "tools/input/loss_summary.h"
#include "tools/options/command.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/text.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

struct VerifyOptions {
  std::vector<std::string> recordings;
  bool json = false, quiet = false;
};

// What is worst counts, in this order.
ExitCode Worse(ExitCode a, ExitCode b) {
  const auto rank = [](ExitCode code) {
    return code == ExitCode::kUnreadable ? 3 : code == ExitCode::kDamaged ? 2 : code == ExitCode::kCheckFailed ? 1 : 0;
  };
  return rank(b) > rank(a) ? b : a;
}

ExitCode Verdict(const Recording& recording, const Verification& verification) {
  if (recording.damaged()) return ExitCode::kDamaged;
  return verification.findings().empty() ? ExitCode::kOk : ExitCode::kCheckFailed;
}

std::string State(const Recording& recording) {
  if (recording.ending()) return "ended: " + recording.ending()->reason;
  return recording.running() ? "still running" : "cut off";
}

std::string Line(const Recording& recording, const Verification& verification) {
  const uint64_t tail = recording.tail_bytes();
  std::string line = fmt::format("{}: ", recording.source().name());
  const ExitCode verdict = Verdict(recording, verification);
  line += verdict == ExitCode::kOk ? "ok" : verdict == ExitCode::kDamaged ? "damaged" : "inconsistent";
  line += fmt::format(", {} events in {} blocks, {}", Grouped(recording.events()), Grouped(verification.blocks()),
                      State(recording));
  if (recording.salvage().ring_found) {
    line += fmt::format(", {} events from the ring", Grouped(recording.salvage().events));
  } else if (!recording.ending() && !recording.running() && !recording.header().ring_path.empty()) {
    line += ", its ring is gone: what only the ring held, up to two seconds, is lost";
  }
  if (tail > 0) line += fmt::format(", {} bytes of an unfinished block at the end", Grouped(tail));
  if (recording.misses_bytes()) line += ", " + DamagedBytes(recording.skipped_bytes()) + " skipped";
  if (recording.repaired_bytes() > 0) {
    line += ", " + DamagedBytes(recording.repaired_bytes()) + " repaired";
  }
  return ToUtf8(line) + "\n";
}

json AsJson(const Recording& recording, const Verification& verification) {
  json findings = json::array();
  for (const Finding& finding : verification.findings()) {
    findings.push_back({{"offset", finding.offset}, {"what", finding.what}});
  }
  return {{"recording", recording.source().name()},
          {"recording_id", IdText(recording.header())},
          {"ok", Verdict(recording, verification) == ExitCode::kOk},
          {"damaged", recording.damaged()},
          {"repaired_bytes", recording.repaired_bytes()},
          {"state", State(recording)},
          {"events", recording.events()},
          {"blocks", verification.blocks()},
          {"bytes", recording.bytes_read()},
          {"findings", findings},
          {"more_findings", verification.more_findings()},
          {"losses", LossesAsJson(recording)}};
}

ExitCode VerifyOne(Recording* of, const VerifyOptions& options, json* documents, Output* output) {
  Recording& recording = *of;
  Verification verification(recording.header());
  while (const auto block = recording.Next()) verification.Look(*block, recording);
  verification.Close(recording);
  for (const Finding& finding : verification.findings()) {
    Complain(fmt::format("{}: offset {}: {}", recording.source().name(), finding.offset, finding.what));
  }
  if (verification.more_findings() > 0) {
    Complain(fmt::format("{}: and {} more", recording.source().name(), Grouped(verification.more_findings())));
  }
  ReportDamage(recording);
  if (options.json) {
    documents->push_back(AsJson(recording, verification));
  } else if (!options.quiet) {
    output->Append(Line(recording, verification));
  }
  return Verdict(recording, verification);
}

// A merged file holds several recordings.
ExitCode VerifyFile(const std::string& path, const VerifyOptions& options, json* documents, Output* output) {
  const auto opened = Recording::OpenAll(path);
  if (!opened.ok()) {
    Complain(opened.error().message);
    if (options.json) documents->push_back({{"recording", path}, {"ok", false}, {"error", opened.error().message}});
    return ExitCode::kUnreadable;
  }
  ExitCode worst = ExitCode::kOk;
  for (const auto& recording : *opened) worst = Worse(worst, VerifyOne(recording.get(), options, documents, output));
  return worst;
}

ExitCode Verify(const VerifyOptions& options) {
  Output output(STDOUT_FILENO);
  json documents = json::array();
  ExitCode worst = ExitCode::kOk;
  for (const std::string& path : options.recordings) {
    worst = Worse(worst, VerifyFile(path, options, &documents, &output));
  }
  if (options.json) output.Append(documents.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  output.Flush();
  const ExitCode written = output.Report("standard output");
  return written != ExitCode::kOk ? written : worst;
}

}  // namespace

Command VerifyCommand() {
  auto options = std::make_shared<VerifyOptions>();
  Command command("verify", "Check files for damage and inconsistencies");
  command.AddOption("REC", options->recordings, "Recordings to read; - is standard input").Required();
  command.AddFlag("--json", options->json, "Print JSON");
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
