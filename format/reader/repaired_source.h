// The bytes of a recording as they were before they were damaged, where parity records can tell.
//
// Nothing is looked at before somebody who reads has met damage and says where.
//
// Memory:   the region at hand, and the bytes that were repaired.
// Threads:  one.
// Failure:  as the source within. What cannot be repaired is left as it is.
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

  // Repairs the region of the first record whose tail stands at `offset` or behind it. Returns the bytes that were
  // wrong, which need not be those at `offset`; nullopt: none, or more than can be repaired, or the same was asked
  // before. Offsets do not fall from call to call.
  std::optional<ByteRange> RepairBehind(uint64_t offset);
  // Makes the tail of a record anew whose head is whole, if what it covers is.
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
  std::optional<Found> found_;  // the first one behind where was looked last
  uint64_t searched_to_ = 0;    // no tail between there and where was looked last
  uint64_t tried_to_ = 0;       // tails before were used, or are of no use
};

}  // namespace heaprec::format
