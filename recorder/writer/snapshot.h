// A snapshot of a recording, and a file of its own made of it while the recording continues.
//
// Context:  drain (TakeSnapshot of drain.h). CopyOf: any thread, outside of allocations; it does I/O.
// Failure:  CopyOf returns an Error that names the file; then nothing of it is left.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "format/bytes/bytes.h"
#include "recorder/writer/recording_file.h"

namespace heaprec::writer {

struct Snapshot {
  RecordingFile file;         // with its length at that time, and a descriptor of its own
  format::ByteBuffer ending;  // the copy's last block, which the recording does not have
};

// Returns the file's name. `pattern`, `pid`, `epoch_ns` as RecordingFile::Create. The name refers to a complete copy,
// or to an empty file while the copy is being made.
Result<std::string> CopyOf(const Snapshot& snapshot, const std::string& pattern, uint32_t pid, uint64_t epoch_ns);

}  // namespace heaprec::writer
