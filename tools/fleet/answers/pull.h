// Samples of the fleet as one recording, on which all other commands work.
//
// A thread of it is a host, with the labels service, version and environment. Weights are calibrated and unbiased;
// samples count as drawn in one stage, so that intervals are somewhat wider than those of heaprec fleet, which knows
// the sums of all samples. Lines and threads are not known to the fleet.
//
// Memory:   the samples that are pulled, about 150 B each.
// Failure:  returns the sentence for the user.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "tools/fleet/answers/selection.h"
#include "tools/fleet/answers/source.h"
#include "tools/options/command.h"
#include "tools/text/exit_code.h"
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
// At most about `most` samples.
Result<Pulled> Pull(Source* source, const Selection& selection, uint64_t most, Output* output);
// Into a file. Says on stderr what failed, or with `says_what` what is in it.
ExitCode PullTo(Source* source, const Selection& selection, const PullOptions& options, bool says_what);

}  // namespace heaprec::tools::fleet
