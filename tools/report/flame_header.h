// What stands above a flame graph.
//
// Threads:  one.
// Failure:  none.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/analysis/estimate/group_estimates.h"
#include "tools/query/flame_query.h"
#include "tools/query/scan.h"

namespace heaprec::tools {

// "4.2 GiB in 66,089 objects, 351 MiB/s, 12.3 s".
std::string HeadlineOf(const GroupEstimates& all, const RecordingScan& scan);
// "4.2 MiB live in 66,089 objects"; `all` is of what is live.
std::string LiveHeadlineOf(const GroupEstimates& all, const RecordingScan& scan);
// Whose recording it is, and what was read of it.
std::vector<std::pair<std::string, std::string>> FactsOf(const LeafVisitor& leaves, const RecordingScan& scan);

}  // namespace heaprec::tools
