// heaprec recover: rebuilds a recording that was killed, cut off or damaged.
#include <fmt/format.h>

#include <memory>

#include "tools/commands/rewrite_command.h"
#include "tools/input/loss_summary.h"
#include "tools/options/command.h"
#include "tools/render/renderers.h"
#include "tools/rewrite/recording_editor.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

struct RecoverOptions : WriteOptions {
  std::string recording;
};

void Print(const Recording& recording, const Rewritten& rewritten, const std::string& path) {
  std::string sentence = fmt::format("{}: {}", path, CountOf(rewritten.events, "sample"));
  const SalvageReport& salvage = recording.salvage();
  if (salvage.ring_found) sentence += fmt::format(", {} of them from the ring", Grouped(salvage.events));
  if (salvage.unnamed > 0) sentence += fmt::format(" ({} without names)", Grouped(salvage.unnamed));
  if (rewritten.missing > 0) {
    sentence += fmt::format("; {} lost in damaged bytes", Grouped(rewritten.missing));
  }
  if (LostItsRing(recording)) sentence += "; its ring is gone: " + LostEnd(recording);
  if (recording.repaired_bytes() > 0) {
    sentence += "; " + CountOf(recording.repaired_bytes(), "damaged byte") + " repaired";
  }
  PrintError(sentence);
  for (const std::string& error : salvage.errors) PrintError("cannot read the whole ring: " + error);
}

std::string AsJson(const Recording& recording, const Rewritten& rewritten, const std::string& path) {
  render::Report report("heaprec.recover/1");
  report.Add(render::Hidden({{"recording", recording.source().name()},
                             {"output", path},
                             {"samples", rewritten.events},
                             {"missing", rewritten.missing},
                             {"was_complete", recording.ending().has_value()},
                             {"damaged", recording.damaged()},
                             {"repaired_bytes", recording.repaired_bytes()},
                             {"losses", LossesValue(recording)}}));
  return RenderJson(report);
}

ExitCode Recover(const RecoverOptions& options) {
  auto opened = Recording::Open(options.recording);
  if (!opened.ok()) return Fail(ExitCode::kUnreadable, opened.error().message);
  Recording& recording = **opened;
  if (options.output != "-" && recording.source().IsSameFileAs(options.output)) {
    return Fail(ExitCode::kCannotWrite, options.output + ": is the recording itself");
  }
  if (const auto objection = options.Objection()) return *objection;
  auto file = OutputFile::Open(options.output, options.force);
  if (!file.ok()) return Fail(ExitCode::kCannotWrite, file.error().message);
  const auto rewritten = Rewrite(&recording, format::kEndRecovered, &(*file)->output());
  if (!rewritten.ok()) return Fail(ExitCode::kUnreadable, rewritten.error().message);
  if (const auto failed = (*file)->Finish()) return *failed;
  if (options.json) {
    Output report(1);
    report.Append(AsJson(recording, *rewritten, options.output));
    report.Flush();
  }
  if (!options.quiet) Print(recording, *rewritten, options.output);
  return ReportDamage(recording);
}

}  // namespace

Command RecoverCommand() {
  auto options = std::make_shared<RecoverOptions>();
  Command command("recover", "Rebuild a recording after a crash or damage");
  command.AddOption("REC", options->recording, "Recording to read; - is standard input").Required();
  options->AddOutputTo(command);
  options->AddFlagsTo(command);
  command.footer =
      R"(Joins the file and its ring into one complete recording; REC and the ring are
not changed. Exit code 4: REC had damaged bytes, which were skipped or repaired;
OUT has none.

Examples:
  heaprec recover killed.hrec -o whole.hrec && heaprec verify whole.hrec
  heaprec recover --json damaged.hrec -o whole.hrec | jq .missing)";
  command.run = [options](const auto&) { return Recover(*options); };
  return command;
}

}  // namespace heaprec::tools
