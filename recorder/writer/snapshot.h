// A recording as it is at a moment, and a file of its own made of that while the recording goes on.
//
// Context:  drain (TakeSnapshot of drain.h). CopyOf: any thread, outside of allocations; it does I/O.
// Failure:  CopyOf: an Error that names the file; nothing of it is then left.
#pragma once

#include <cstdint>
#include <string>

#include "format/bytes/bytes.h"
#include "format/bytes/result.h"
#include "recorder/writer/recording_file.h"

namespace heaprec::writer {

// Ending of a copy: its recording goes on.
inline constexpr char kDumped[] = "dump";

struct Snapshot {
  RecordingFile file;         // as long as it was then, under a descriptor of its own
  format::ByteBuffer ending;  // the copy's last block, which the recording does not have
};

// Returns the file's name. `pattern`, `pid`, `epoch_ns` as RecordingFile::Create; the name leads to a whole copy, or to
// an empty file while that is made.
format::Result<std::string> CopyOf(const Snapshot& snapshot, const std::string& pattern, uint32_t pid,
                                   uint64_t epoch_ns);

}  // namespace heaprec::writer
