// What a command says at the end: the loss line, and what was damaged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/input/recording.h"
#include "tools/render/value.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools {

// Fewer lost samples, as a share of all, matter less than the sampling error of any share that a recording can tell.
inline constexpr double kFewLost = 0.001;

// What recordings hold and what they lost, added up.
struct LossTotals {
  size_t recordings = 0;
  uint64_t events = 0;  // samples read
  // That estimates were made from, kept as samples or not; 0: from samples alone.
  uint64_t points = 0;
  uint64_t calibrated_to = 0;  // points of the rows that samples were calibrated to
  uint64_t thinned = 0, lost = 0, salvaged = 0;
  bool counts_losses = false;  // false: all are imports, which do not know them

  // A recording that was read to its end.
  void Add(const Recording& recording);
  // "# 1,234 samples kept of 1,300 (rate limit; sums stay unbiased); 3 salvaged from the ring": `shown` of the samples.
  // Of points: "# 1,300 points (1,234 kept as samples)"; calibrated: "# 1,234 samples, calibrated to 1,300 points".
  std::string Line(uint64_t shown) const;
};
// Likewise of one recording, of the samples read so far.
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
// By reason, zeros too.
std::vector<Loss> LossesOf(const format::StreamCounters& counters);

// The loss of a recording that was cut off and whose ring is gone: "up to two seconds of samples are lost".
std::string LostEnd(const Recording& recording);

// How many points of a stream a kill lost, as far as is known: "the kill lost 17 sample points"; empty: none.
std::string KilledPoints(const Recording& recording, format::Stream stream);

// Whether the recorder limited its rate and counted its losses. Imported files do not say.
bool CountsLosses(const format::FileHeader& header);

// Passes a recorder's counters through; for an import it returns unknown.
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
// "1 of 2: 0a1b..., pid 12, OpenJDK ..., 2026-11-20T16:40:00Z": which of the recordings of a file, from 0.
std::string WhichText(const format::FileHeader& header, size_t index, size_t count);

// The recording's header.
render::Object HeaderValue(const format::FileHeader& header);

// Says on stderr what could not be decoded, or was repaired.
ExitCode ReportDamage(const Recording& recording);

}  // namespace heaprec::tools
