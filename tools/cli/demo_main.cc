// heaprec with the commands that demo.sh shows, so that a first look needs few files compiled.
#include "tools/cli/command_line.h"
#include "tools/commands/commands.h"

int main(int argc, char** argv) {
  using namespace heaprec::tools;
  return static_cast<int>(
      RunCommandLine(argc, argv, {{"Look", {SummaryCommand(), TopCommand(), TreeCommand(), PrintCommand()}}}));
}
