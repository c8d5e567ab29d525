// `heaprec histogram` as a report: sizes of objects by powers of two.
//
// Context:  pure functions.
#pragma once

#include "tools/query/allocations/group_query.h"
#include "tools/query/scan/scan.h"
#include "tools/render/report.h"

namespace heaprec::tools {

// `sizes`: grouped by size.
render::Report HistogramReport(const RecordingScan& scan, const Groups& sizes);

}  // namespace heaprec::tools
