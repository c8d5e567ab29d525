// The way of recordings through filters into an exporter, for the commands that go it.
//
// Threads:  one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "format/bytes/result.h"
#include "tools/analysis/estimate/estimator.h"
#include "tools/export/exporter.h"
#include "tools/input/recording.h"
#include "tools/query/filter/event_filter.h"
#include "tools/text/exit_code.h"
#include "tools/text/progress.h"

namespace heaprec::tools {

using Recordings = std::vector<std::unique_ptr<Recording>>;

// All recordings of all files, in their order.
format::Result<Recordings> OpenRecordings(const std::vector<std::string>& paths);

// Frames that the filter leaves out of stacks; empty: none.
std::function<bool(std::string_view method)> HiddenBy(const Filter& filter);

// What follows for an exporter from the recordings and from what of them is wanted.
ExportSettings SettingsFor(ExportSettings asked, const Recordings& recordings, const Filter& filter);

// What a pass made of a recording.
struct PassedOne {
  uint64_t events = 0;               // that passed
  std::vector<std::string> reasons;  // why the numbers of their streams should not be believed, as `summary` says it
};

// Reads all of them into `exporter`, whose Finish is left to the caller; ends early when `stop` says so: then there are
// no reasons. `weights`: kCalibrated takes one pass more over each recording. `beside`: what the exporter writes
// meanwhile.
std::vector<PassedOne> Pass(const Recordings& recordings, const Filter& filter, Weights weights, Exporter* exporter,
                            Progress::Beside beside, const std::function<bool()>& stop);

// What was lost (on a terminal; on stderr, for the output is pure), what was damaged, and whether the sums of what
// passed can be relied on. `passed`: of Pass.
ExitCode Close(const Recordings& recordings, const std::vector<PassedOne>& passed);

}  // namespace heaprec::tools
