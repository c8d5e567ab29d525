// What `heaprec doctor` finds in a recording: how sure its numbers are, why, and what to do about it.
//
// Built on AssessTrust (trust.h) and Verification: what they object to is a problem here, and nothing else is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/input/recording.h"

namespace heaprec::tools {

enum class Level { kOk, kNote, kWarning, kProblem };
const char* LevelName(Level level);

struct Finding {
  std::string id;  // stable: "losses", "source", ...; docs/guide/trust.md#doctor
  Level level = Level::kOk;
  std::string what;             // with its number
  std::optional<double> value;  // that number; shares are 0 to 1
  std::string impact;           // for the estimates; empty where all is well
  std::string action;           // likewise
};

// Reads the recording to its end. The worst first.
std::vector<Finding> Diagnose(Recording* recording);

}  // namespace heaprec::tools
