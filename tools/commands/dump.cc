// heaprec dump: copies the recording of a running JVM to a new file. The JVM's recording continues.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "tools/control/attach.h"
#include "tools/control/java_process.h"
#include "tools/control/live_recording.h"
#include "tools/options/command.h"
#include "tools/rewrite/recording_editor.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

struct DumpOptions {
  std::string jvm, output;
  bool force = false, quiet = false, flush = false;
};

ExitCode Dump(const DumpOptions& options) {
  const auto java = Find(options.jvm);
  if (!java.ok()) return Fail(ExitCode::kCannotAttach, java.error().message);
  const pid_t pid = java->process.pid;
  auto live = FindLiveRecording(java->process);
  if (live && options.flush) {
    const auto flushed = AskToFlush(*java);
    if (!flushed.ok()) return Fail(ExitCode::kCannotAttach, flushed.error().message);
    live = FindLiveRecording(java->process);
  }
  if (!live)
    return Fail(ExitCode::kCannotAttach,
                fmt::format("PID {}: no recording is running; 'heaprec list' shows where one is", pid));
  const std::string path = options.output.empty() ? fmt::format("heaprec-{}-dump.hrec", pid) : options.output;
  if (live->recording->source().IsSameFileAs(path)) {
    return Fail(ExitCode::kCannotWrite, path + ": is the recording itself");
  }
  auto file = OutputFile::Open(path, options.force);
  if (!file.ok()) return Fail(ExitCode::kCannotWrite, file.error().message);
  const auto rewritten = Rewrite(live->recording.get(), format::kEndDump, &(*file)->output());
  if (!rewritten.ok()) return Fail(ExitCode::kUnreadable, rewritten.error().message);
  if (const auto failed = (*file)->Finish()) return *failed;
  if (!options.quiet) PrintError(fmt::format("{}: {}", path, CountOf(rewritten->events, "sample")));
  return ExitCode::kOk;
}

}  // namespace

Command DumpCommand() {
  auto options = std::make_shared<DumpOptions>();
  Command command("dump", "Save a copy of a running recording");
  command.AddOption("JVM", options->jvm, "PID, main class or jar of the JVM").Required();
  command
      .AddOption("-o,--output", options->output, "Output file; - is standard output (default: heaprec-PID-dump.hrec)")
      .Value("OUT");
  command.AddFlag("-f,--force", options->force, "Overwrite the output file if it exists");
  command.AddFlag(
      "--flush", options->flush,
      "First let the agent count the active TLABs (census), and search for what holds live objects (paths)");
  command.AddFlag("-q,--quiet", options->quiet, "Do not print a summary line");
  command.footer =
      R"(Reads the recording's file and ring; the JVM is not involved unless --flush is
given. The copy ends with the last committed sample. The recording continues.

Examples:
  heaprec dump 12345 -o now.hrec
  heaprec dump 12345 --flush -o - | heaprec census -)";
  command.run = [options](const auto&) { return Dump(*options); };
  return command;
}

}  // namespace heaprec::tools
