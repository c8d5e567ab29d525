// What the report page says of a recording beside its samples: headlines, facts and findings.
//
// Threads:  one.
// Failure:  none: what the recording does not hold is left out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/input/generated_names.h"
#include "tools/input/recording.h"
#include "tools/query/summary/headlines.h"
#include "tools/render/value.h"

namespace heaprec::tools {

// Reads the recording again from its start. `file`: that holds it alone; empty: several do. `use_census`: as for its
// samples. `merged`: as NamePool. `headlines`: of a page that shows a part; empty: those of `heaprec summary`, with the
// command to run next.
//
// {"jvm", "gc", "start_epoch_ns", "trustworthy", "headlines": [{"id", "mood", "text"}], "next": {"command", "reason"},
//  "facts": [[name, value]], "findings": [{"id", "level", "what", "means", "do"}]}
render::Object PageFacts(const Recording& recording, const std::string& file, bool use_census,
                         const std::shared_ptr<MergedNames>& merged, const std::vector<Headline>& headlines);

}  // namespace heaprec::tools
