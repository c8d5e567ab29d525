// The exceptions of a recording, as lines of the summary and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/analysis/exception_totals.h"

namespace heaprec::tools {

// Name and value of each line; the largest `most` classes and sites.
std::vector<std::pair<std::string, std::string>> ThrownLines(const Thrown& thrown, size_t most);
// All classes and sites.
nlohmann::json AsJson(const Thrown& thrown);

}  // namespace heaprec::tools
