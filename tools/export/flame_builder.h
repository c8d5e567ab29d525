// A flame graph put together from the boxes that were chosen and what is known of them.
//
// Threads:  one.
// Failure:  none.
#pragma once

#include "tools/export/flame_graph.h"
#include "tools/query/allocations/flame_query.h"

namespace heaprec::tools {

// Without title and headline.
FlameGraph MakeFlameGraph(const FlameScan& scan);

}  // namespace heaprec::tools
