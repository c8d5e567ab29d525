// What diff is asked: by its command line, and by bench for what it has recorded.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/query/scan.h"
#include "tools/render/print.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools {

struct DiffOptions {
  ScanOptions scan;
  std::vector<std::string> windows;  // none, or two: FROM..TO
  std::vector<std::string> after;    // what followed "--"
  std::string by, per, operations, html;
  double fdr = 0.05, margin = 0;
  std::optional<size_t> limit;
  render::OutputOptions output;
  bool objects = false, all = false, force = false;
  bool whole_runs = false;  // each recording is all that its command did
};

ExitCode Diff(const DiffOptions& options);

}  // namespace heaprec::tools
