// `heaprec histogram` as a report: sizes of objects by powers of two.
//
// Context:  pure functions.
#pragma once

#include "tools/query/group_query.h"
#include "tools/query/scan.h"
#include "tools/render/report.h"

namespace heaprec::tools {

// `sizes`: grouped by size.
render::Report HistogramReport(const RecordingScan& scan, const Groups& sizes);

}  // namespace heaprec::tools
