// The last lines of a command: losses and damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/input/recording.h"
#include "tools/render/value.h"
#include "tools/text/messages.h"

namespace heaprec::tools {

// A smaller share of lost samples matters less than the sampling error of any share.
inline constexpr double kFewLost = 0.001;

// Samples and losses, summed over recordings.
struct LossTotals {
  size_t recordings = 0;
  uint64_t events = 0;  // samples read
  // Points from which estimates were computed, whether they are samples or not; 0: from samples alone.
  uint64_t points = 0;
  uint64_t calibrated_to = 0;  // points of the rows that samples were calibrated to
  uint64_t thinned = 0, lost = 0, salvaged = 0;
  bool counts_losses = false;  // false: all are imports, whose losses are unknown

  // Adds a recording that was read to its end.
  void Add(const Recording& recording);
  // "# 1,234 samples kept of 1,300 (rate limit; sums stay unbiased); 3 salvaged from the ring", with `shown` samples.
  // For points: "# 1,300 points (1,234 kept as samples)"; calibrated: "# 1,234 samples, calibrated to 1,300 points".
  std::string Line(uint64_t shown) const;
};
// The same for one recording, for the samples read so far.
std::string LossLine(const Recording& recording, uint64_t shown);

// The same as numbers: counters, losses by reason, salvage, skipped and repaired ranges.
render::Object LossesValue(const Recording& recording);

// Whether the recording was cut off and its ring, which had the last samples, is gone.
bool LostItsRing(const Recording& recording);

// Points that are not in the recording.
struct Loss {
  const char* reason;  // LossReasonName
  uint64_t points;
  double weight;  // in the stream's unit
};
// By reason, including zeros.
std::vector<Loss> LossesOf(const format::StreamCounters& counters);

// The loss of a recording that was cut off and whose ring is gone: "up to two seconds of samples are lost".
std::string LostEnd(const Recording& recording);

// How many points of a stream a kill has lost, if known: "the kill lost 17 sample points"; empty: none.
std::string KilledPoints(const Recording& recording, format::Stream stream);

// Whether the recorder limited its rate and counted its losses. Imported files do not have this.
bool CountsLosses(const format::FileHeader& header);

// Returns a recorder's counters; for an import, unknown values.
class RecorderCounts {
 public:
  explicit RecorderCounts(const format::FileHeader& header) : are_known_(CountsLosses(header)) {}
  template <typename Count>
  render::Value operator()(Count count) const {
    return are_known_ ? render::Value(std::move(count)) : render::Value();
  }
  bool are_known() const { return are_known_; }

 private:
  const bool are_known_;
};

// The recording's id as 32 hexadecimal digits.
std::string IdText(const format::FileHeader& header);
// "1 of 2: 0a1b..., pid 12, OpenJDK ..., 2026-11-20T16:40:00Z" for recording `index` (from 0) in a file.
std::string WhichText(const format::FileHeader& header, size_t index, size_t count);

// The recording's header.
render::Object HeaderValue(const format::FileHeader& header);

// Reports damage on stderr: bytes that could not be decoded, or were repaired.
ExitCode ReportDamage(const Recording& recording);

}  // namespace heaprec::tools
