// Times as users of the fleet's commands write them: "2h" (ago), "2026-11-20T10:00Z", and lengths of time: "10m".
//
// Failure:  Parse functions return the sentence for the user.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/bytes/result.h"

namespace heaprec::tools::fleet {

// "90s", "10m", "2h", "14d": seconds.
format::Result<uint32_t> ParseLength(std::string_view text);
// A length (so long before `now`), or a time in ISO 8601. Seconds since 1970.
format::Result<uint32_t> ParseFleetTime(std::string_view text, uint32_t now);
// "2026-11-20 16:40:00", UTC.
std::string TimeText(uint32_t time);

}  // namespace heaprec::tools::fleet
