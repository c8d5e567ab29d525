// Passes the events of recordings through filters to an exporter.
//
// Threads:  one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/export/exporter.h"
#include "tools/input/recording.h"
#include "tools/query/filter/event_filter.h"
#include "tools/text/exit_code.h"
#include "tools/text/progress.h"

namespace heaprec::tools {

// `asked`, completed from the recordings and the filter.
ExportSettings SettingsFor(ExportSettings asked, const Recordings& recordings, const Filter& filter);

// What was exported from one recording.
struct ExportedRecording {
  uint64_t events = 0;
  uint64_t points = 0;               // of the rows that samples were calibrated to
  std::vector<std::string> reasons;  // why its numbers are not trustworthy, as `summary` prints them
};

// Reads all recordings into `exporter`; the caller calls its Finish. Ends early, without reasons, when `stop` returns
// true. `to`: anything but kNothing reads each recording once more. `stdout_use`: whether the exporter writes to
// stdout. `live_at`: when objects are to be live. If no recording has data of that time, or of those that `filter`
// takes, a line on stderr says so.
std::vector<ExportedRecording> ExportAll(const Recordings& recordings, const Filter& filter, CalibratedTo to,
                                         Exporter* exporter, Progress::StdoutUse stdout_use,
                                         const std::function<bool()>& stop,
                                         const std::optional<TimePoint>& live_at = {});

// Prints on stderr what was damaged, why sums are not trustworthy, and on a terminal what was lost.
// `exported`: what ExportAll returned.
ExitCode Close(const Recordings& recordings, const std::vector<ExportedRecording>& exported);

}  // namespace heaprec::tools
