// `heaprec top`, `tree`, `histogram`, `timeline`, `census` and `escape` as reports.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/query/allocations/census_query.h"
#include "tools/query/allocations/escape_result.h"
#include "tools/query/allocations/flame_query.h"
#include "tools/query/allocations/group_query.h"
#include "tools/query/allocations/timeline_query.h"
#include "tools/query/scan/scan.h"
#include "tools/render/report.h"

namespace heaprec::tools {

// `heaprec top` as a report: a table for each grouping.

// `what`: what a row is, "class or site".
render::Report TopReport(const RecordingScan& scan, const std::vector<Groups>& tables, const Ranking& ranking,
                         const CallTree& tree, const std::string& what);

// `heaprec tree` as a report: nodes with what was allocated below them.

// Which children of a node are shown.
struct TreeLimits {
  size_t children = 0;  // 0: all
  double min_share = 0.01;
};

// `tree`: without classes, its boxes estimated; what is below `limits` may be folded.
render::Report TreeReport(const FlameScan& tree, const TreeLimits& limits);

// `heaprec histogram` as a report: sizes of objects by powers of two.

// `sizes`: grouped by size.
render::Report HistogramReport(const RecordingScan& scan, const Groups& sizes);

// `heaprec timeline` as a report.

// How many steps fit into a text of this width; 0: a width that most terminals have.
size_t StepsWithin(size_t columns);
render::Report TimelineReport(const RecordingScan& scan, const Timeline& timeline);

// `heaprec census` as a report.
struct CensusRanking {
  std::string sort = "bytes";  // objects, name
  size_t limit = 0;            // rows; 0: all
};

// `before`: of an earlier recording, to which this one is compared; null: none.
render::Report CensusReport(const CensusScan& scan, const CensusScan* before, const CensusRanking& ranking);

// `heaprec escape` as a report: what a call allocates in each mode of the JVM's compiler.

// `modes`: in the order of EscapeModes(), each with an outcome of every method.
render::Report EscapeReport(const std::vector<std::string>& methods, const std::vector<CallOutcomes>& modes);

}  // namespace heaprec::tools
