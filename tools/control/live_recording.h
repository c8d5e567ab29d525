// The recording that a process is writing, found through its open files: the process is not asked, and not stopped.
//
// It works into containers and for a file whose name is gone.
//
// Threads:  one.
// Failure:  none: no recording is nullopt.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tools/control/process.h"
#include "tools/input/recording.h"

namespace heaprec::tools {

// That its file is not being written, and what has been lost since the start for that reason.
struct WriteStatus {
  double silent_seconds = 0;  // since when nothing was written; 0: all is well
  std::string error;          // why; empty: not known
  uint64_t lost_samples = 0;
};

struct LiveRecording {
  std::string path;                      // as the process sees it
  std::unique_ptr<Recording> recording;  // at its start
  format::StreamCounters counters;       // as they are now
  uint64_t bytes = 0;                    // of the file
  WriteStatus writing;
};

// The one that has no end yet.
std::optional<LiveRecording> FindLiveRecording(const Process& process);

}  // namespace heaprec::tools
