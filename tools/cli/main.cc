// heaprec: makes and reads recordings of Java heap allocations. docs/index.md
#include "tools/cli/command_line.h"
#include "tools/cli/generate.h"
#include "tools/commands/commands.h"

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

}  // namespace
}  // namespace heaprec::tools

int main(int argc, char** argv) {
  return static_cast<int>(heaprec::tools::RunCommandLine(argc, argv, heaprec::tools::Commands()));
}
