// Finds the next place at which a damaged recording can be read again: a chunk's header, or a block's where blocks
// stand alone.
//
// Format:   docs/format/recording.md#recovery
#pragma once

#include <cstdint>
#include <optional>

#include "format/bytes/bytes.h"
#include "format/model/model.h"
#include "format/reader/reader.h"

namespace heaprec::format {

// Scans forward from an offset and remembers how far it came, so that a growing file is scanned once.
class Resync {
 public:
  Resync(ByteSource* source, uint32_t version, const RecordingId& recording)
      : source_(source), version_(version), recording_(recording) {}

  void Start(uint64_t offset);
  // The offset of the next such header of this recording; nullopt: none in the bytes there are.
  std::optional<uint64_t> Find();

  // Whole block headers that lie between the start and what was found: those of version 1 lead nowhere.
  uint64_t blocks_passed() const { return blocks_passed_; }
  // What was scanned last.
  uint64_t end() const { return end_; }
  // Everything scanned ended with zeros: bytes that a file system made but never received.
  bool ends_with_zeros() const { return zeros_ >= kZeroTail; }

 private:
  static constexpr uint64_t kZeroTail = 16;
  bool BeginsHere(Bytes bytes);

  ByteSource* source_;
  uint32_t version_;
  RecordingId recording_;
  uint64_t next_ = 0;  // candidates before this were looked at
  uint64_t end_ = 0;
  uint64_t zeros_ = 0;
  uint64_t blocks_passed_ = 0;
};

}  // namespace heaprec::format
