// What `heaprec doctor` finds in a recording: how sure its numbers are, why, and what to do about it.
//
// Built on AssessTrust (trust.h) and Verification: what they object to is a problem here, and nothing else is.
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

struct Finding {
  std::string id;  // stable: "losses", "source", ...; docs/guide/trust.md#doctor
  Level level = Level::kOk;
  std::string what;             // with its number
  std::optional<double> value;  // that number; shares are 0 to 1
  std::string impact;           // for the estimates; empty where all is well
  std::string action;           // likewise
};

// All that is known of a recording once it was read.
struct DiagnosisInput {
  const Recording& recording;
  const format::PerStream<StreamTotals>& tallies;
  const AllocationTotals& volume;
  const Verification& verification;
  const Completeness& completeness;
  // How far the wall clock has moved against the monotonic one since the start; nullopt: cannot be known.
  std::optional<double> clock_moved_seconds;
};

// The worst first.
std::vector<Finding> Diagnose(const DiagnosisInput& examined);

}  // namespace heaprec::tools
