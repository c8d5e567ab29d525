// `heaprec tree` as a report: nodes with what was allocated below them.
//
// Context:  pure functions.
#pragma once

#include <cstddef>

#include "tools/query/allocations/tree_query.h"
#include "tools/query/scan/scan.h"
#include "tools/render/report.h"

namespace heaprec::tools {

// Which children of a node are shown.
struct TreeLimits {
  size_t children = 0;  // 0: all
  double min_share = 0.01;
};

render::Report TreeReport(const RecordingScan& scan, const TreeVisitor& tree, Direction direction,
                          const TreeLimits& limits);

}  // namespace heaprec::tools
