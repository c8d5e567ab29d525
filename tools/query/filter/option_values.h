// Values of options that several commands have. The sentence of an Error begins with the option's name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/analysis/groups/grouping.h"
#include "tools/query/filter/time_point.h"

namespace heaprec::tools {

// An empty text was not given.
Result<std::optional<TimePoint>> TimeOption(const char* option, const std::string& text);
// Of --by; `usual`: if it was not given.
Result<std::vector<Grouping>> GroupingsOption(const std::string& text, const std::vector<By>& usual);

}  // namespace heaprec::tools
