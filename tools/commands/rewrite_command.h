// What trim, merge and redact have in common on the command line: an output of its own, and a word of what was written.
//
// Threads:  one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "format/bytes/result.h"
#include "tools/input/recording.h"
#include "tools/options/command.h"
#include "tools/text/exit_code.h"
#include "tools/text/output.h"

namespace heaprec::tools {

using Recordings = std::vector<std::unique_ptr<Recording>>;

struct RewriteOptions {
  std::vector<std::string> inputs;
  std::string output;
  bool force = false, json = false, quiet = false;

  void AddTo(Command& command, bool several);
};

// What was written.
struct RewriteSummary {
  uint64_t recordings = 0, samples = 0;
};

// Opens all recordings of all inputs, lets `write` read and write them, and puts the output in place.
ExitCode Edit(const RewriteOptions& options,
              const std::function<format::Result<RewriteSummary>(const Recordings&, Output*)>& write);

}  // namespace heaprec::tools
