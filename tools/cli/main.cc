// heaprec records Java heap allocations and analyses the recordings. docs/index.md
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/command_line.h"
#include "tools/cli/help.h"
#include "tools/commands/commands.h"
#include "tools/control/attach.h"
#include "tools/control/java_process.h"
#include "tools/control/live_recording.h"

namespace heaprec::tools {
namespace {

// In the order of the help.
CommandGroups Commands() {
  return {
      {"Record", {RecordCommand(), AttachCommand(), StopCommand(), StatusCommand(), ListCommand(), DumpCommand()}},
      {"Look",
       {WhyCommand(), SummaryCommand(), TopCommand(), TreeCommand(), ReportCommand(), ViewCommand(), FlameCommand(),
        TimelineCommand(), HistogramCommand(), CensusCommand(), PrintCommand()}},
      {"Compare", {DiffCommand(), CheckCommand(), BenchCommand(), EscapeCommand()}},
      {"Live", {LiveCommand(), LeaksCommand(), PathsCommand()}},
      {"Native", {NativeCommand()}},
      {"Fleet", {ShipCommand(), FleetCommand()}},
      {"Files", {TrimCommand(), MergeCommand(), RedactCommand(), RecoverCommand()}},
      {"Exchange", {ExportCommand(), ImportCommand(), SqlCommand()}},
      {"Check", {DoctorCommand(), VerifyCommand()}},
      {"Shell", {CompletionCommand(), ManCommand()}},
  };
}

// Returns the file for `word`: the file with this name or, if there is none and it is the PID of a JVM, the recording
// of that JVM. The Error says how to get a recording.
// `flushes`: the agent first searches for paths.
Result<std::string> NamedRecording(const std::string& word, bool flushes) {
  std::error_code error;
  const bool is_number = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number || std::filesystem::exists(word, error)) return word;
  const auto fail = [&](const std::string& why) { return Error{word + ": no such file; " + why}; };
  const auto java = Find(word);
  if (!java.ok()) return fail(java.error().message);
  const auto live = FindLiveRecording(java->process);
  if (!live) return fail(fmt::format("PID {0} is not being recorded; 'heaprec attach {0}' starts a recording", word));
  if (flushes) {
    const auto flushed = AskToFlush(*java);
    if (!flushed.ok()) return fail(flushed.error().message);
  }
  if (java->process.same_files && std::filesystem::exists(live->path, error)) return live->path;
  return fail(
      fmt::format("PID {0} is being recorded in its container; copy the recording with "
                  "'heaprec dump {0} -o now.hrec'",
                  word));
}

ExitCode Main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv, argv + argc);
  const auto is = [&words](std::string_view command) { return words.size() > 1 && words[1] == command; };
  RecordingNames names = [is](const std::string& word) { return NamedRecording(word, is("paths")); };
  // It also accepts a JVM that is not being recorded.
  if (is("top") && std::ranges::find(words, "--follow") != words.end()) names = {};
  return RunCommandLine(argc, argv, Commands(), names);
}

}  // namespace
}  // namespace heaprec::tools

int main(int argc, char** argv) { return static_cast<int>(heaprec::tools::Main(argc, argv)); }
