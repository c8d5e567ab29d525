// Finds the recording that a process is writing through its open files, without contacting or stopping the process.
//
// Works for containers, and for a deleted file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "tools/analysis/totals/trend.h"
#include "tools/control/process.h"
#include "tools/input/confined_open.h"
#include "tools/input/recording.h"

namespace heaprec::tools {

// Returns how many bytes to read or copy of a file that a process, possibly another user's, has written as its
// recording, without bytes that its owner adds later. Fails if the file does not begin like a recording, or is sparse:
// an agent leaves no holes, and a sparse file of terabytes costs its owner nothing.
Result<uint64_t> RecordingBytes(const Descriptor& file);

// Why the file is not being written, and the samples lost for that reason since the start.
struct WriteStatus {
  double silent_seconds = 0;  // time since the last write; 0: writing succeeds
  std::string error;          // why; empty: unknown
  uint64_t lost_samples = 0;
};

struct LiveRecording {
  std::string path;                      // path inside the process' files
  std::unique_ptr<Recording> recording;  // at its start
  format::StreamCounters counters;       // current values
  uint64_t bytes = 0;                    // size of the file
  WriteStatus writing;
  std::optional<TimeToFull::Answer> full;  // what will be full first, if the process goes on like this
};

// Returns the recording that has not ended yet.
std::optional<LiveRecording> FindLiveRecording(const Process& process);

}  // namespace heaprec::tools
