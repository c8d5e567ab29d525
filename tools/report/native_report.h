// What `native` shows of a recording, as text and JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/query/native_query.h"
#include "tools/query/scan.h"

namespace heaprec::tools {

struct NativeReport {
  const Survey& survey;
  const NativeSurvey& native;
  const CallTree& tree;
  bool by_live = true;        // what is alive ranks, else what was allocated
  size_t limit = 0;           // rows; 0: all
  size_t callers = 0;         // below a stack
  uint64_t least_age_ns = 0;  // of what counts as alive
};

std::string NativeText(const NativeReport& report);
// `mapped`: of mappings; null: none were recorded.
std::string NativeJson(const NativeReport& report, const nlohmann::json& mapped);

}  // namespace heaprec::tools
