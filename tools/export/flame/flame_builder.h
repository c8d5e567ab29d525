// A flame graph put together from the boxes that were chosen and what is known of them.
//
// Threads:  one.
// Failure:  none.
#pragma once

#include <vector>

#include "tools/analysis/call_tree.h"
#include "tools/analysis/estimate/group_estimates.h"
#include "tools/analysis/flame_box_tree.h"
#include "tools/export/flame/flame_graph.h"
#include "tools/query/allocations/flame_query.h"
#include "tools/query/scan/scan.h"

namespace heaprec::tools {

// The boxes, and what is known of them.
struct FlameAnswer {
  const RecordingScan& scan;
  const CallTree& calls;
  const LeafVisitor& leaves;
  FlameBoxTree boxes;
  std::vector<GroupEstimates> estimates;  // by box
};

// Without title and headline.
FlameGraph MakeFlameGraph(const FlameAnswer& answer);

}  // namespace heaprec::tools
