// Repairs damaged bytes of a recording from its parity records.
//
// Reads parity records only after a reader has found damage and passes its offset.
//
// Memory:   the current region, and the repaired bytes.
// Threads:  one.
// Failure:  as `within`. Bytes that cannot be repaired are returned unchanged.
// Format:   docs/format/recording.md#parity
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "format/bytes/bytes.h"
#include "format/bytes/parity.h"
#include "format/reader/reader.h"

namespace heaprec::format {

struct ByteRange {
  uint64_t begin = 0, end = 0;
};

class RepairedSource final : public ByteSource {
 public:
  // `within` must outlive this.
  explicit RepairedSource(ByteSource* within) : within_(*within) {}

  Result<size_t> ReadAt(uint64_t offset, std::byte* into, size_t size) override;
  const std::string& name() const override { return within_.name(); }

  // Repairs the region of the first record whose tail is at or after `offset`. Returns the repaired range, which need
  // not contain `offset`. Returns nullopt if no bytes or too many were damaged, or if the same was requested before.
  // Offsets must not decrease from call to call.
  std::optional<ByteRange> RepairBehind(uint64_t offset);
  // Rebuilds the tail of a record whose head is intact, provided that the covered bytes are intact.
  std::optional<ByteRange> RebuildTail(uint64_t record, const ParityShape& shape);

 private:
  struct Found {
    uint64_t at = 0;
    ParityTail tail;
  };
  ByteBuffer Read(uint64_t offset, size_t size);
  const std::optional<Found>& FindTail(uint64_t offset);
  std::optional<Found> TailAt(uint64_t offset);
  ByteRange Patch(uint64_t offset, Bytes right);

  ByteSource& within_;
  std::map<uint64_t, ByteBuffer> patches_;
  size_t longest_patch_ = 0;
  std::optional<Found> found_;  // the first tail at or after the last searched offset
  uint64_t searched_to_ = 0;    // there is no tail between the last searched offset and this one
  uint64_t tried_to_ = 0;       // tails before this have been used or rejected
};

}  // namespace heaprec::format
