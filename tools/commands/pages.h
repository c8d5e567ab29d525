// Pages of a recording, for commands that make one beside what they do.
#pragma once

#include <string>

#include "tools/text/exit_code.h"

namespace heaprec::tools {

struct PageRequest {
  std::string recording, output, title;
  bool force = false, quiet = false;
};

// As `heaprec report` and `heaprec flame` without further options.
ExitCode WriteReportPage(const PageRequest& request);
ExitCode WriteFlamePage(const PageRequest& request);

}  // namespace heaprec::tools
