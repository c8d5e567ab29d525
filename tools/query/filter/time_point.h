// Points in time as users write them: "10s", "1m30s", "250ms" (since the start of the recording), "-30s" (before its
// end), ISO 8601, "23:27:50" (a time of day), epoch ns.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace heaprec::tools {

struct TimePoint {
  // The origin of `ns`: the recording's start or end, 1970-01-01T00:00:00Z, or the midnight of a day.
  enum class Origin { kStart, kEnd, kEpoch, kDay };
  Origin origin = Origin::kEpoch;
  int64_t ns = 0;
  std::optional<int64_t> zone_s;  // for kDay: seconds east of Greenwich; nullopt: local time

  bool needs_end() const { return origin == Origin::kEnd || origin == Origin::kDay; }
  // Returns ns since the start of a recording that lasted until `end_ns`; negative: before it. A time of day is the
  // last one within the recording; otherwise the nearest one.
  int64_t InRecording(uint64_t start_epoch_ns, uint64_t end_ns) const;
};

// Returns the time at which live objects are listed, in ns since the start of a recording that lasted until `end_ns`.
// nullopt: its end.
uint64_t MomentOf(const std::optional<TimePoint>& at, uint64_t start_epoch_ns, uint64_t end_ns);

// ISO: YYYY-MM-DD, then `T` or a space, HH:MM[:SS[.fraction]], then Z or an offset (+01:00); without one: local time. A
// time of day is the part after the `T`.
// A number without a unit is epoch ns; a smaller number is rejected, because its unit is missing (0 is the start).
Result<TimePoint> ParseTimePoint(std::string_view text);

}  // namespace heaprec::tools
