// What `heaprec doctor` finds in a recording: how sure its numbers are, why, and what to do about it.
//
// Built on Judge (trust.h) and Verification: what they object to is a problem here, and nothing else is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "format/model.h"
#include "tools/analysis/allocation_totals.h"
#include "tools/analysis/health/completeness.h"
#include "tools/analysis/health/verification.h"
#include "tools/analysis/stream_totals.h"
#include "tools/input/recording.h"

namespace heaprec::tools {

enum class Level { kOk, kNote, kWarning, kProblem };
const char* LevelName(Level level);

struct Symptom {
  std::string id;  // stable: "losses", "source", ...; docs/guide/trust.md#doctor
  Level level = Level::kOk;
  std::string what;             // with its number
  std::optional<double> value;  // that number; shares are 0 to 1
  std::string means;            // for the estimates; empty where all is well
  std::string todo;             // likewise
};

// All that is known of a recording once it was read.
struct Examined {
  const Recording& recording;
  const format::PerStream<Tally>& tallies;
  const Volume& volume;
  const Verification& verification;
  const Completeness& completeness;
  // How far the wall clock has moved against the monotonic one since the start; nullopt: cannot be known.
  std::optional<double> clock_moved_seconds;
};

// The worst first.
std::vector<Symptom> Diagnose(const Examined& examined);

}  // namespace heaprec::tools
