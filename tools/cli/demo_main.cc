// heaprec with only the commands that demo.sh uses, so that it compiles quickly.
#include "tools/cli/command_line.h"
#include "tools/commands/commands.h"

int main(int argc, char** argv) {
  using namespace heaprec::tools;
  return static_cast<int>(
      RunCommandLine(argc, argv, {{"Look", {SummaryCommand(), TopCommand(), TreeCommand(), PrintCommand()}}}));
}
