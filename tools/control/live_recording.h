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

struct LiveRecording {
  std::string path;                      // as the process sees it
  std::unique_ptr<Recording> recording;  // at its start
  format::Books books;                   // as they are now
  uint64_t bytes = 0;                    // of the file
};

// The one that has no end yet.
std::optional<LiveRecording> FindLiveRecording(const Process& process);

}  // namespace heaprec::tools
