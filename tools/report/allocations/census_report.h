// `heaprec census` as a report.
//
// Context:  pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "tools/query/allocations/census_query.h"
#include "tools/render/report.h"

namespace heaprec::tools {

struct CensusRanking {
  std::string sort = "bytes";  // objects, name
  size_t limit = 0;            // rows; 0: all
};

// `before`: of an earlier recording, to which this one is compared; null: none.
render::Report CensusReport(const CensusScan& scan, const CensusScan* before, const CensusRanking& ranking);

}  // namespace heaprec::tools
