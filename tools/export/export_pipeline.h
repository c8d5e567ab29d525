// Passes the events of recordings through filters to an exporter.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/export/exporter.h"
#include "tools/input/recording.h"
#include "tools/query/filter/event_filter.h"
#include "tools/text/exit_code.h"
#include "tools/text/progress.h"

namespace heaprec::tools {

// Returns `asked`, completed from the recordings and the filter.
ExportSettings SettingsFor(ExportSettings asked, const Recordings& recordings, const Filter& filter);

// What was exported from one recording.
struct ExportedRecording {
  uint64_t events = 0;
  uint64_t points = 0;               // points of the rows to which samples were calibrated
  std::vector<std::string> reasons;  // why its numbers are not trustworthy, as `summary` prints them
};

struct ExportRequest {
  const Filter& filter;
  CalibratedTo calibrated_to = CalibratedTo::kCounts;              // all except kNothing read each recording once more
  Progress::StdoutUse stdout_use = Progress::StdoutUse::kNothing;  // whether the exporter writes to stdout
  std::function<bool()> stop = [] { return false; };               // true: ends early, and does not assess trust
  std::optional<TimePoint> live_at{};                              // time at which objects must be live
};

// Reads all recordings into `exporter`; the caller calls its Finish. Reports on stderr if no recording has data for the
// requested times.
std::vector<ExportedRecording> ExportAll(const Recordings& recordings, const ExportRequest& request,
                                         Exporter* exporter);

// Prints damage and reasons why sums are not trustworthy on stderr and, on a terminal, losses. `exported`: result of
// ExportAll.
ExitCode Close(const Recordings& recordings, const std::vector<ExportedRecording>& exported);

}  // namespace heaprec::tools
