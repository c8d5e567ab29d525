// The mappings of a recording, as `native` shows them: text and JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/query/mapping_query.h"
#include "tools/query/scan.h"

namespace heaprec::tools {

struct MappedReport {
  const Survey& survey;
  const MappedSurvey& mapped;
  const CallTree& tree;
  size_t limit = 0;    // rows; 0: all
  size_t callers = 0;  // below a stack
};

std::string MappedText(const MappedReport& report);
nlohmann::json MappedAsJson(const MappedReport& report);

}  // namespace heaprec::tools
