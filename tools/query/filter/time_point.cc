#include "tools/query/filter/time_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <optional>

#include "base/time.h"

namespace heaprec::tools {
namespace {

// Times are nanoseconds since 1970 in 64 bits, which reach from 1677 to 2262.
constexpr int kFirstYear = 1700, kLastYear = 2200;

constexpr int64_t kSecond = 1'000'000'000;
// 1e15 ns after 1970 is 12 January 1970: no recording is that old, and nobody writes an offset of 11 days in ns.
constexpr int64_t kMinEpochNs = 1'000'000'000'000'000;
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Parses exactly `digits` digits, then `separator` unless that is 0.
std::optional<int> TakeField(std::string_view* text, size_t digits, char separator) {
  const size_t size = digits + (separator != 0 ? 1 : 0);
  if (text->size() < size || !std::all_of(text->begin(), text->begin() + static_cast<ptrdiff_t>(digits), IsDigit)) {
    return std::nullopt;
  }
  if (separator != 0 && (*text)[digits] != separator) return std::nullopt;
  int field = 0;
  for (size_t i = 0; i < digits; ++i) field = field * 10 + ((*text)[i] - '0');
  text->remove_prefix(size);
  return field;
}

// ".5" -> 500,000,000. Ignores digits beyond ns.
int64_t TakeFraction(std::string_view* text) {
  if (text->size() < 2 || text->front() != '.' || !IsDigit((*text)[1])) return 0;
  text->remove_prefix(1);
  int64_t fraction = 0, scale = kSecond / 10;
  for (; !text->empty() && IsDigit(text->front()); text->remove_prefix(1), scale /= 10) {
    fraction += (text->front() - '0') * scale;
  }
  return fraction;
}

// "Z", "+01:00", "-0530", "+02" as seconds east of Greenwich.
std::optional<int64_t> TakeZone(std::string_view* text) {
  const char sign = text->front();
  text->remove_prefix(1);
  if (sign == 'Z' || sign == 'z') return 0;
  if (sign != '+' && sign != '-') return std::nullopt;
  const auto hours = TakeField(text, 2, 0);
  if (!hours) return std::nullopt;
  if (!text->empty() && text->front() == ':') text->remove_prefix(1);
  int minutes = 0;
  if (!text->empty()) {
    const auto taken = TakeField(text, 2, 0);
    if (!taken) return std::nullopt;
    minutes = *taken;
  }
  return (*hours * 3600 + minutes * 60) * (sign == '-' ? -1 : 1);
}

// Parses the time of day at the beginning of `text`; the seconds may be missing.
bool TakeClock(std::string_view* text, std::tm* time) {
  const auto hour = TakeField(text, 2, ':');
  const auto minute = hour ? TakeField(text, 2, 0) : std::nullopt;
  if (!minute) return false;
  time->tm_hour = *hour;
  time->tm_min = *minute;
  if (!text->empty() && text->front() == ':') {
    text->remove_prefix(1);
    const auto second = TakeField(text, 2, 0);
    if (!second) return false;
    time->tm_sec = *second;
  }
  return time->tm_hour < 24 && time->tm_min < 60 && time->tm_sec <= 60;
}

std::optional<TimePoint> ParseIso(std::string_view text) {
  std::tm time{};
  const auto year = TakeField(&text, 4, '-');
  const auto month = year ? TakeField(&text, 2, '-') : std::nullopt;
  const auto day = month ? TakeField(&text, 2, 0) : std::nullopt;
  if (!day || *month < 1 || *month > 12 || *day < 1 || *day > 31) return std::nullopt;
  if (*year < kFirstYear || *year > kLastYear) return std::nullopt;
  time.tm_year = *year - 1900;
  time.tm_mon = *month - 1;
  time.tm_mday = *day;
  if (!text.empty()) {
    if (text.front() != 'T' && text.front() != 't' && text.front() != ' ') return std::nullopt;
    text.remove_prefix(1);
    if (!TakeClock(&text, &time)) return std::nullopt;
  }
  const int64_t fraction = TakeFraction(&text);
  if (text.empty()) {
    time.tm_isdst = -1;  // determined from the time
    return TimePoint{TimePoint::Origin::kEpoch, static_cast<int64_t>(mktime(&time)) * kSecond + fraction, {}};
  }
  const auto zone = TakeZone(&text);
  if (!zone || !text.empty()) return std::nullopt;
  return TimePoint{TimePoint::Origin::kEpoch, (static_cast<int64_t>(timegm(&time)) - *zone) * kSecond + fraction, {}};
}

std::optional<TimePoint> ParseTimeOfDay(std::string_view text) {
  std::tm time{};
  if (!TakeClock(&text, &time)) return std::nullopt;
  TimePoint point{
      TimePoint::Origin::kDay, (time.tm_hour * 60 + time.tm_min) * 60 * kSecond + time.tm_sec * kSecond, {}};
  point.ns += TakeFraction(&text);
  if (text.empty()) return point;
  point.zone_s = TakeZone(&text);
  return point.zone_s && text.empty() ? std::optional(point) : std::nullopt;
}

// Returns the time of day `point`, `days` after the day of `epoch_ns`.
int64_t OnDayOf(int64_t epoch_ns, int days, const TimePoint& point) {
  std::time_t seconds = epoch_ns / kSecond + point.zone_s.value_or(0);
  std::tm day{};
  point.zone_s ? gmtime_r(&seconds, &day) : localtime_r(&seconds, &day);
  day.tm_mday += days;
  day.tm_hour = day.tm_min = 0;
  day.tm_sec = static_cast<int>(point.ns / kSecond);
  day.tm_isdst = -1;
  const int64_t at = point.zone_s ? timegm(&day) - *point.zone_s : mktime(&day);
  return at * kSecond + point.ns % kSecond;
}

}  // namespace

Result<TimePoint> ParseTimePoint(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), IsDigit)) {
    int64_t ns = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ns);
    if (error == std::errc() && ns == 0) return TimePoint{TimePoint::Origin::kStart, 0, {}};
    if (error == std::errc() && ns >= kMinEpochNs) return TimePoint{TimePoint::Origin::kEpoch, ns, {}};
    return Error{fmt::format("'{}': too small for epoch nanoseconds; an offset needs a unit, as in {}s", text, text)};
  }
  if (const auto ns = ParseDurationWithUnits(text))
    return TimePoint{TimePoint::Origin::kStart, static_cast<int64_t>(*ns), {}};
  if (text.starts_with('-')) {
    if (const auto ns = ParseDurationWithUnits(text.substr(1)))
      return TimePoint{TimePoint::Origin::kEnd, -static_cast<int64_t>(*ns), {}};
  }
  if (const auto time = ParseIso(text)) return *time;
  if (const auto time = ParseTimeOfDay(text)) return *time;
  return Error{
      fmt::format("'{}' is not a time: use an offset (10s, 1m30s, 250ms; -30s from the end), an ISO 8601 time "
                  "(2026-01-31T12:00:00Z; local without a zone), a time of day (12:00:30) or epoch nanoseconds",
                  text)};
}

int64_t TimePoint::InRecording(uint64_t start_epoch_ns, uint64_t end_ns) const {
  const auto start = static_cast<int64_t>(start_epoch_ns), length = static_cast<int64_t>(end_ns);
  switch (origin) {
    case Origin::kStart:
      return ns;
    case Origin::kEnd:
      return length + ns;
    case Origin::kEpoch:
      return ns - start;
    case Origin::kDay:
      break;
  }
  const bool is_later_that_day = OnDayOf(start + length, 0, *this) > start + length;
  const int64_t last = OnDayOf(start + length, is_later_that_day ? -1 : 0, *this) - start;
  const int64_t next = OnDayOf(start + length, is_later_that_day ? 0 : 1, *this) - start;
  return last >= 0 || -last <= next - length ? last : next;
}

uint64_t MomentOf(const std::optional<TimePoint>& at, uint64_t start_epoch_ns, uint64_t end_ns) {
  if (!at) return end_ns;
  const int64_t at_ns = at->InRecording(start_epoch_ns, end_ns);
  return at_ns > 0 ? std::min(static_cast<uint64_t>(at_ns), end_ns) : 0;
}

}  // namespace heaprec::tools
