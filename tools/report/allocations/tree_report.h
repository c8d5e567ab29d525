// `heaprec tree` as a report: nodes with what was allocated below them.
//
// Context:  pure functions.
#pragma once

#include <cstddef>

#include "tools/query/allocations/flame_query.h"
#include "tools/render/report.h"

namespace heaprec::tools {

// Which children of a node are shown.
struct TreeLimits {
  size_t children = 0;  // 0: all
  double min_share = 0.01;
};

// `tree`: without classes, its boxes estimated; what is below `limits` may be folded.
render::Report TreeReport(const FlameScan& tree, const TreeLimits& limits);

}  // namespace heaprec::tools
