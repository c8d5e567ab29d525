#include "tools/fleet/answers/fleet_time.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <charconv>
#include <ctime>

#include "tools/query/filter/time_point.h"

namespace heaprec::tools::fleet {

format::Result<uint32_t> ParseLength(std::string_view text) {
  uint32_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<size_t>(parsed.ptr - text.data()));
  uint64_t seconds = 0;
  if (parsed.ec == std::errc() && unit.size() == 1) {
    switch (unit.front()) {
      case 's':
        seconds = number;
        break;
      case 'm':
        seconds = uint64_t{number} * 60;
        break;
      case 'h':
        seconds = uint64_t{number} * 3600;
        break;
      case 'd':
        seconds = uint64_t{number} * 86400;
        break;
      default:
        break;
    }
  }
  if (seconds == 0 || seconds > UINT32_MAX) {
    return format::Error{fmt::format("'{}' is not a duration, such as 90s, 10m, 2h or 14d", text)};
  }
  return static_cast<uint32_t>(seconds);
}

format::Result<uint32_t> ParseFleetTime(std::string_view text, uint32_t now) {
  if (text.find('-') == std::string_view::npos) {
    auto length = ParseLength(text);
    if (length.ok()) return now > *length ? now - *length : 0;
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
