// What the report page says of a recording beside its samples: headlines, facts and findings.
//
// Threads:  one.
// Failure:  none: what the recording does not hold is left out.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/input/recording.h"

namespace heaprec::tools {

// Reads the recording again from its start. `use_census`: as for its samples.
//
// {"jvm", "gc", ..., "start_epoch_ns", "headlines": [{"id", "mood", "text"}], "next": {"command", "reason"},
//  "facts": [[name, value]], "findings": [{"id", "level", "what", "means", "do"}]}
nlohmann::json PageFacts(const Recording& recording, bool use_census);

}  // namespace heaprec::tools
