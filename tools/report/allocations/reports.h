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

// `heaprec top` as a report: one table per grouping.

// `what`: description of a row, "class or site".
render::Report TopReport(const RecordingScan& scan, const std::vector<Groups>& tables, const Ranking& ranking,
                         const CallTree& tree, const std::string& what);

// `heaprec tree` as a report: nodes with what was allocated below them.

// Limits for the children of a node that are shown.
struct TreeLimits {
  size_t children = 0;  // 0: all
  double min_share = 0.01;
};

// `tree`: without classes, with estimated boxes; boxes below `limits` may be folded.
render::Report TreeReport(const FlameScan& tree, const TreeLimits& limits);

// `heaprec histogram` as a report: sizes of objects by powers of two.

// `sizes`: samples grouped by size.
render::Report HistogramReport(const RecordingScan& scan, const Groups& sizes);

// `heaprec timeline` as a report.

// Returns how many steps fit into this width; 0: the usual width of terminals.
size_t StepsWithin(size_t columns);
render::Report TimelineReport(const RecordingScan& scan, const Timeline& timeline);

// `heaprec census` as a report.
struct CensusRanking {
  std::string sort = "bytes";  // bytes, objects, name
  size_t limit = 0;            // rows; 0: all
};

// `before`: an earlier recording, with which this one is compared; null: none.
render::Report CensusReport(const CensusScan& scan, const CensusScan* before, const CensusRanking& ranking);

// `heaprec escape` as a report: allocations of one call in each mode of the JVM's compiler.

// `modes`: in the order of EscapeModes(), each with an outcome of every method.
render::Report EscapeReport(const std::vector<std::string>& methods, const std::vector<CallOutcomes>& modes);

}  // namespace heaprec::tools
