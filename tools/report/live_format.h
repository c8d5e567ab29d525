// Figures of what is alive, grows and dies, as the cells of a table and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/analysis/live/growth.h"
#include "tools/analysis/live/life_table.h"
#include "tools/analysis/live/live_sum.h"
#include "tools/text/table.h"

namespace heaprec::tools {

// "12.3 s", "41.0 ms", "3.20 h": of seconds, no bound is "?".
std::string AgeText(double seconds);
Cell AgeCell(const Estimate& seconds);
// Of a plain number: "3.20", "2.90-3.50".
Cell NumberCell(const Estimate& number);
// "+1.20 MiB/s", "+0.90..+1.50": may be below 0; "?" without ends.
Cell GrowthCell(const Estimate& bytes_per_second);
// "+1.2 MiB/s (+0.9 MiB to +1.5 MiB)"
std::string GrowthText(const Estimate& bytes_per_second);

// The share that reaches the ages from 10 ms to `longest_s`, a column each, every one so many times the one before; as
// far as the curve goes. "▇▇▆▁▁▁  "
std::string SurvivalLine(const std::vector<Survival>& curve, double longest_s, bool unicode);

// {"samples", "bytes", "objects", "share", "mean_age_seconds", "median_age_seconds", "mean_survived",
// "median_survived"}
nlohmann::json AsJson(const LiveFigures& figures);
// {"value", "low", "high", "p"}
nlohmann::json AsJson(const Slope& slope);
// A point each: {"value", "low", "high", `age`: its age}
nlohmann::json AsJson(const std::vector<Survival>& curve, const char* age);
// {"value", "low", "high"} of seconds; null: more than half reach all ages that were seen.
nlohmann::json AsJson(const MedianLife& median);

}  // namespace heaprec::tools
