// e2e.Ends, recorded: it ends in the way that is asked for right after an object of 4 MiB.
//
// At the rate used here that object is kept with 1 - exp(-lambda size), lambda size > 40 as in crash_test: missing by
// chance with probability < 1e-17.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/support/java_run.h"

namespace heaprec::testing {

inline constexpr const char* kEndsRate = "20000";

struct Ended {
  std::string folder;
  pid_t pid = 0;
  Outcome outcome;
};

// Records into rec.bin of `folder`.
Command EndsCommand(const std::string& folder, const std::vector<std::string>& args,
                    const std::vector<std::string>& flags = {});

// Runs it in a folder of its own; `signal` is sent once it waits.
Ended RunEnds(const std::vector<std::string>& args, const std::vector<std::string>& flags = {}, int signal = 0);

// The last object is in the recording, which adds up. `how`: "jvm exit": the agent wrote an ending; "cut off": the rest
// is in the ring.
void RequireLast(const Ended& ended, const std::string& how);

// It ended with `exit_code` and said nothing.
void RequireSilent(const Ended& ended, int exit_code);

}  // namespace heaprec::testing
