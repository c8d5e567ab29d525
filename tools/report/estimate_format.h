// Estimates as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "tools/analysis/estimate/confidence_interval.h"

namespace heaprec::tools {

// A range: "17.2 MiB to 20.1 MiB". An estimate without a value that is known: "unknown".
// "18.6 MiB (17.2 MiB to 20.1 MiB)"; without an interval that says the same as the value.
std::string WithInterval(const std::string& value, const std::string& low, const std::string& high);
// Likewise, in these digits.
std::string BytesText(const Estimate& bytes);
// "1,234,567 (1,150,000 to 1,320,000)": the interval to three digits, outwards. Likewise.
std::string CountText(const Estimate& count);
// "1,234,567 (1,150,000 to 1,320,000) objects", or "an unknown number of objects".
std::string CountText(const Estimate& count, std::string_view things);
// {"value": 1.5, "low": 1, "high": 2}; null for what is not finite.
nlohmann::json AsJson(const Estimate& estimate);

}  // namespace heaprec::tools
