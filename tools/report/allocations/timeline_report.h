// `heaprec timeline` as a report.
//
// Context:  pure functions.
#pragma once

#include <cstddef>

#include "tools/query/allocations/timeline_query.h"
#include "tools/query/scan/scan.h"
#include "tools/render/report.h"

namespace heaprec::tools {

// How many steps fit into a text of this width; 0: a width that most terminals have.
size_t StepsWithin(size_t columns);
render::Report TimelineReport(const RecordingScan& scan, const Timeline& timeline);

}  // namespace heaprec::tools
