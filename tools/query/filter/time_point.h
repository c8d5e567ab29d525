// Points in time as users write them: "10s", "1m30s", "250ms" (since the start of the recording), ISO 8601, epoch ns.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "format/bytes/result.h"

namespace heaprec::tools {

struct TimePoint {
  bool since_start = false;  // else since 1970-01-01T00:00:00Z
  int64_t ns = 0;
  // In ns since the start of a recording; negative: before it.
  int64_t InRecording(uint64_t start_epoch_ns) const {
    return since_start ? ns : ns - static_cast<int64_t>(start_epoch_ns);
  }
};

// In ns since the start of a recording that lasted until `end_ns`: when it is asked what is alive. nullopt: at its end.
uint64_t MomentOf(const std::optional<TimePoint>& at, uint64_t start_epoch_ns, uint64_t end_ns);

// ISO: YYYY-MM-DD, then `T` or a space, HH:MM[:SS[.fraction]], then Z or an offset (+01:00); without one: local time.
// A number without a unit is epoch ns; one too small to be that is refused, as the unit was forgotten (0 is the start).
format::Result<TimePoint> ParseTimePoint(std::string_view text);

// A length of time as an offset is written: "10s", "1m30s". In ns.
format::Result<uint64_t> ParseDuration(std::string_view text);

}  // namespace heaprec::tools
