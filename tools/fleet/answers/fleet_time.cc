#include "tools/fleet/answers/fleet_time.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/duration.h"
#include "tools/query/filter/time_point.h"

namespace heaprec::tools::fleet {

format::Result<uint32_t> ParseFleetTime(std::string_view text, uint32_t now) {
  if (text.find('-') == std::string_view::npos) {
    const auto ago_ns = ParseDurationWithUnits(text);
    if (ago_ns) return now - static_cast<uint32_t>(std::min<uint64_t>(*ago_ns / 1'000'000'000, now));
  } else if (auto point = ParseTimePoint(text);
             point.ok() && point->origin == TimePoint::Origin::kEpoch && point->ns >= 0) {
    return static_cast<uint32_t>(static_cast<uint64_t>(point->ns) / 1'000'000'000);
  }
  return format::Error{fmt::format("'{}' is not a time: use how long ago (2h, 14d), or 2026-11-20T10:00Z", text)};
}

std::string TimeText(uint32_t time) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(time)));
}

}  // namespace heaprec::tools::fleet
