// A snapshot of a recording, and its copy to a new file while the recording continues.
//
// Context:  drain (TakeSnapshot of drain.h). CopyOf: any thread, outside of allocations; it does I/O.
// Failure:  CopyOf returns an Error that names the file, and leaves no file behind.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "format/bytes/bytes.h"
#include "recorder/writer/recording_file.h"

namespace heaprec::writer {

struct Snapshot {
  RecordingFile file;         // with its length at that time, and a separate descriptor
  format::ByteBuffer ending;  // the last block of the copy, which the recording does not have
};

// Returns the file's name. `pattern`, `pid`, `epoch_ns`: as for RecordingFile::Create. While the copy is being made,
// the name refers to an empty file.
Result<std::string> CopyOf(const Snapshot& snapshot, const std::string& pattern, uint32_t pid, uint64_t epoch_ns);

}  // namespace heaprec::writer
