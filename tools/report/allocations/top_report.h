// `heaprec top` as a report: a table for each grouping.
//
// Context:  pure functions.
#pragma once

#include <string>
#include <vector>

#include "tools/query/allocations/group_query.h"
#include "tools/query/scan/scan.h"
#include "tools/render/report.h"

namespace heaprec::tools {

// `what`: what a row is, "class or site".
render::Report TopReport(const RecordingScan& scan, const std::vector<Groups>& tables, const Ranking& ranking,
                         const CallTree& tree, const std::string& what);

}  // namespace heaprec::tools
