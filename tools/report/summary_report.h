// The two forms of `summary`: text, and JSON.
//
// Threads:  one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "tools/analysis/health/trust.h"
#include "tools/input/recording.h"
#include "tools/query/summary_query.h"

namespace heaprec::tools {

// Classes and sites that the text shows, unless told.
inline constexpr size_t kMostGroups = 5;

// `tables`: of classes and sites.
std::string SummaryText(const Recording& recording, const Facts& facts, const Trust& trust, std::string_view tables);
std::string SummaryJson(const Recording& recording, const Facts& facts, const Trust& trust,
                        const nlohmann::json& tables);

}  // namespace heaprec::tools
