// What was allocated by class and by site, as `summary` shows it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/analysis/estimate/estimator.h"
#include "tools/query/class_site_totals.h"

namespace heaprec::tools {

// The `limit` classes and sites of most bytes (0: all), each estimate with its 95 % interval.
// {"class_count": 2, "classes": [{"class": "byte[]", ...}], "site_count": ..., "sites": [...], "unseen": {...}}, and
// "chosen": all that is kept, if not all is.
nlohmann::json AsJson(const Breakdown& of, const Estimator& estimator, size_t limit);
std::string AsText(const Breakdown& of, const Estimator& estimator, size_t limit);

}  // namespace heaprec::tools
