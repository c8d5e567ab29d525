// What stands above a flame graph, or a page of a part of a recording.
//
// Threads:  one.
// Failure:  none.
#pragma once

#include <string>

#include "tools/analysis/estimate/estimator.h"
#include "tools/query/scan/scan.h"

namespace heaprec::tools {

// "4.2 GiB in 66,089 objects, 351 MiB/s, 12.3 s".
std::string HeadlineOf(const GroupEstimates& all, const RecordingScan& scan);
// "4.2 MiB live in 66,089 objects"; `all` is of what is live.
std::string LiveHeadlineOf(const GroupEstimates& all, const RecordingScan& scan);

}  // namespace heaprec::tools
