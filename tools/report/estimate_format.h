// Estimates as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/analysis/estimate/confidence_interval.h"

namespace heaprec::tools {

// "18.6 MiB (17.2 MiB to 20.1 MiB)"; without an interval that says the same as the value.
std::string WithInterval(const std::string& value, const std::string& low, const std::string& high);
// {"value": 1.5, "low": 1, "high": 2}; null for what is not finite.
nlohmann::json AsJson(const Estimate& estimate);

}  // namespace heaprec::tools
