// Finds where a damaged recording can be read again: the next chunk or block, and a chunk's copy of the file header.
//
// Format:   docs/format/recording.md#recovery
#pragma once

#include <cstdint>
#include <optional>

#include "format/bytes/bytes.h"
#include "format/model/model.h"
#include "format/reader/reader.h"

namespace heaprec::format {

// Scans forward from an offset and remembers its position, so that a growing file is scanned once.
class Resync {
 public:
  Resync(ByteSource* source, const RecordingId& recording) : source_(source), recording_(recording) {}

  void Start(uint64_t offset);
  // Returns the offset of the next such header of this recording; nullopt: none in the bytes so far.
  std::optional<uint64_t> Find();

  // End of the scanned bytes.
  uint64_t end() const { return end_; }
  // Whether the scanned bytes end with zeros: allocated by the file system, but never written.
  bool ends_with_zeros() const { return zeros_ >= kZeroTail; }

 private:
  static constexpr uint64_t kZeroTail = 16;
  bool BeginsHere(Bytes bytes);

  ByteSource* source_;
  RecordingId recording_;
  uint64_t next_ = 0;  // candidates before this have been checked
  uint64_t end_ = 0;
  uint64_t zeros_ = 0;
};

// Finds a chunk's copy of the file header, for a file whose own header is damaged.
//
// Failure:  nullopt: no copy in the file's first megabytes. A file that is not a recording is not searched further.
// Format:   docs/format/recording.md#recovery

std::optional<FileHeader> FindHeaderCopy(ByteSource* source);

}  // namespace heaprec::format
