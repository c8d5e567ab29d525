// What diff is asked: by its command line, and by bench for what it has recorded.
#pragma once

#include <string>

#include "tools/query/compare/diff_query.h"
#include "tools/render/print.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools {

struct DiffCommandOptions {
  DiffOptions question;
  std::string html;
  render::OutputOptions output;
  bool all = false, force = false;
};

ExitCode Diff(const DiffCommandOptions& options);

}  // namespace heaprec::tools
