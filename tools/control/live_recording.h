// The recording that a process is writing, found through its open files: the process is not asked, and not stopped.
//
// It works into containers and for a file whose name is gone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "tools/control/process.h"
#include "tools/input/confined_open.h"
#include "tools/input/recording.h"

namespace heaprec::tools {

// Returns how many bytes to read or copy of a file that a process, which may be anyone's, has written as its recording;
// what its owner adds later does not count. Fails if the file does not begin
// like a recording or is sparse: an agent leaves no holes, and a sparse file of terabytes costs its owner nothing.
Result<uint64_t> RecordingBytes(const Descriptor& file);

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
