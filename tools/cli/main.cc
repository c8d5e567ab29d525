// heaprec: makes and reads recordings of Java heap allocations. docs/index.md
#include <algorithm>
#include <string_view>
#include <vector>

#include "tools/cli/command_line.h"
#include "tools/cli/generate.h"
#include "tools/commands/commands.h"
#include "tools/control/named_recording.h"

namespace heaprec::tools {
namespace {

// In the order of the help.
CommandGroups Commands() {
  return {
      {"Record", {RecordCommand(), AttachCommand(), StopCommand(), StatusCommand(), ListCommand(), DumpCommand()}},
      {"Look",
       {SummaryCommand(), TopCommand(), TreeCommand(), ReportCommand(), FlameCommand(), TimelineCommand(),
        HistogramCommand(), CensusCommand(), PrintCommand()}},
      {"Compare", {DiffCommand(), CheckCommand(), BenchCommand(), EscapeCommand()}},
      {"Live", {LiveCommand(), LeaksCommand()}},
      {"Native", {NativeCommand()}},
      {"Fleet", {ShipCommand(), FleetCommand()}},
      {"Files", {TrimCommand(), MergeCommand(), RedactCommand(), RecoverCommand()}},
      {"Exchange", {ExportCommand(), ImportCommand(), SqlCommand()}},
      {"Check", {DoctorCommand(), VerifyCommand()}},
      {"Shell", {CompletionCommand(), ManCommand()}},
  };
}

// top --follow takes a JVM itself, recorded or not.
bool TakesJvm(int argc, char** argv) {
  const std::vector<std::string_view> words(argv, argv + argc);
  return words.size() > 1 && words[1] == "top" && std::ranges::find(words, "--follow") != words.end();
}

ExitCode Main(int argc, char** argv) {
  return RunCommandLine(argc, argv, Commands(), TakesJvm(argc, argv) ? RecordingNames() : NamedRecording);
}

}  // namespace
}  // namespace heaprec::tools

int main(int argc, char** argv) { return static_cast<int>(heaprec::tools::Main(argc, argv)); }
