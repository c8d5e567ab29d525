// Samples of the fleet as one recording, for all other commands.
//
// Each thread is a host, with the labels service, version and environment. Weights are calibrated and unbiased. Samples
// are treated as drawn in one stage, so intervals are somewhat wider than those of heaprec fleet, which has the sums of
// all samples. The fleet has no lines and threads.
//
// Memory:   about 150 B per sample.
// Failure:  returns an error message for the user.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "tools/fleet/answers/selection.h"
#include "tools/fleet/answers/source.h"
#include "tools/options/command.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"

namespace heaprec::tools::fleet {

// As given on the command line.
struct PullOptions {
  std::string file;
  bool force = false;
  uint64_t samples = 300'000;

  void AddTo(Command& command);
};

struct Pulled {
  uint64_t samples = 0, hosts = 0, recordings = 0;
};
// Writes about `most` samples at most.
Result<Pulled> Pull(Source* source, const Selection& selection, uint64_t most, Output* output);
// Writes to a file. Reports failures on stderr and, with `says_what`, the contents.
ExitCode PullTo(Source* source, const Selection& selection, const PullOptions& options, bool says_what);

}  // namespace heaprec::tools::fleet
