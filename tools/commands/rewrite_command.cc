#include "tools/commands/rewrite_command.h"

#include <fmt/format.h>

#include "tools/input/loss_summary.h"
#include "tools/render/renderers.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/text.h"

namespace heaprec::tools {
void WriteOptions::AddOutputTo(Command& command) {
  command.AddOption("-o,--output", output, "Output file; - is standard output").Value("OUT").Required();
}

void WriteOptions::AddFlagsTo(Command& command) {
  command.AddFlag("-f,--force", force, "Overwrite the output file if it exists");
  command.AddFlag("--json", json, "Print a summary as JSON on standard output");
  command.AddFlag("-q,--quiet", quiet, "Do not print a summary line");
}

std::optional<ExitCode> WriteOptions::Objection() const {
  if (!json || output != "-") return std::nullopt;
  return Fail(ExitCode::kUsage, "--json and -o - both use standard output; name a file with -o");
}

ExitCode WriteOptions::Tell(const render::Object& summary, const std::string& sentence) const {
  if (json) return WriteFile("-", true, render::JsonText(summary) + "\n");
  if (!quiet) PrintError(sentence);
  return ExitCode::kOk;
}

void RewriteOptions::AddTo(Command& command, bool several) {
  Option& in =
      command.AddOption("REC", inputs, several ? "Recordings to read" : "Recording to read; - is standard input");
  in.Required();
  if (!several) in.Exactly(1);
  AddOutputTo(command);
  AddFlagsTo(command);
}

ExitCode Edit(const RewriteOptions& options,
              const std::function<Result<RewriteSummary>(const Recordings&, Output*)>& write) {
  if (const auto objection = options.Objection()) return *objection;
  const auto opened = Recording::OpenAll(options.inputs);
  if (!opened.ok()) return Fail(ExitCode::kUnreadable, opened.error().message);
  const Recordings& recordings = *opened;
  if (IsOneOf(options.output, options.inputs)) {
    return Fail(ExitCode::kCannotWrite,
                options.output + ": is one of the input recordings; choose another output file");
  }
  auto file = OutputFile::Open(options.output, options.force);
  if (!file.ok()) return Fail(ExitCode::kCannotWrite, file.error().message);
  auto edited = write(recordings, &(*file)->output());
  if (!edited.ok()) return Fail(ExitCode::kUsage, edited.error().message);
  if (const auto failed = (*file)->Finish()) return *failed;
  ExitCode outcome = options.Tell(
      {{"output", ToUtf8(options.output)}, {"recordings", edited->recordings}, {"samples", edited->samples}},
      fmt::format("{}: {} of {}{}", options.output, CountOf(edited->samples, "sample"),
                  CountOf(edited->recordings, "recording"), edited->note));
  for (const auto& recording : recordings) {
    const ExitCode read = ReportDamage(*recording);
    if (read != ExitCode::kOk) outcome = read;
  }
  return outcome;
}

}  // namespace heaprec::tools
