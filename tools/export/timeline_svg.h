// The picture of a timeline.
#pragma once

#include <string>

#include "tools/query/allocations/timeline_query.h"

namespace heaprec::tools {

// Self-contained. `title`: the line at the top.
std::string SvgOf(const Timeline& timeline, const std::string& title);

}  // namespace heaprec::tools
