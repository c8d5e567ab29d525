// The part of recordings that --from and --to choose, or the instant that --at does.
//
// Units:    ns since the start of the recording; of times(): since 1970.
// Threads:  one.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/input/recording.h"
#include "tools/query/filter/event_filter.h"
#include "tools/query/filter/time_point.h"

namespace heaprec::tools {

// From where to where a recording's data reaches. `last_ns`: the last time in it; it counts if there is no ending.
std::pair<uint64_t, uint64_t> RecordedTime(const Recording& recording, uint64_t last_ns);

// For Report, of --at.
inline constexpr char kAtInstant[] = "at the time of --at (the nearest is shown)";

class AskedTime {
 public:
  // What of a recording passes `filter`, which has started it.
  std::pair<uint64_t, uint64_t> Add(const Recording& recording, const Filter& filter, uint64_t last_ns);

  // Likewise, whether what was live then is known.
  void AddInstant(const Recording& recording, const TimePoint& at, uint64_t last_ns);
  // What Add returned, but since 1970: of all recordings so far.
  const std::vector<std::pair<uint64_t, uint64_t>>& times() const { return times_; }

  // Whether no recording has data of that time. Amounts of 0 are then unknown.
  bool is_beside_data() const { return !missed_.empty() && !has_data_; }
  // If so, one line on stderr.
  void Report(const char* asked = "in this range") const;

 private:
  void Note(const Recording& recording, uint64_t begin_ns, uint64_t end_ns, bool has_data);

  std::vector<std::string> missed_;                   // of recordings without data of that time: what is said of each
  std::vector<std::pair<uint64_t, uint64_t>> times_;  // since 1970
  bool has_data_ = false;
};

}  // namespace heaprec::tools
