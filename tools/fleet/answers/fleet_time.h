// Times as users of the fleet's commands write them: "2h" (ago), "2026-11-20T10:00Z".
//
// Failure:  ParseFleetTime returns the sentence for the user.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace heaprec::tools::fleet {

// A duration (so long before `now`), or a time in ISO 8601. Seconds since 1970.
format::Result<uint32_t> ParseFleetTime(std::string_view text, uint32_t now);
// "2026-11-20 16:40:00", UTC.
std::string TimeText(uint32_t time);

}  // namespace heaprec::tools::fleet
