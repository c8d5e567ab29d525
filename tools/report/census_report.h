// What `census` shows, as text and JSON.
//
// Threads:  one.
#pragma once

#include <cstddef>
#include <string>

#include "tools/query/census_query.h"

namespace heaprec::tools {

struct CensusRanking {
  std::string sort = "bytes";  // objects, name
  size_t limit = 0;            // rows; 0: all
};

// `before`: of an earlier recording, to which this one is compared; null: none.
std::string CensusText(const CensusSurvey& survey, const CensusSurvey* before, const CensusRanking& ranking);
std::string CensusJson(const CensusSurvey& survey, const CensusSurvey* before, const CensusRanking& ranking);

}  // namespace heaprec::tools
