// Parity records: what repairs a damaged run of bytes in the region of a chunk that lies in front of the record.
//
// A codeword is the region, the record's head, and the parity, one after another. XORed column by column (a byte's
// column is its offset in the codeword modulo the width) it is zero, so one damaged run of at most `width` bytes can be
// put right once it is found; it is found by the checksums of pieces, which stand in the record's tail.
//
// Units:    bytes.
// Format:   docs/format/recording.md#parity
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "format/bytes/bytes.h"

namespace heaprec::format {

inline constexpr uint64_t kParityHeadMagic = 0x0a59545250524889;  // "\x89HRPRTY\n"
inline constexpr uint64_t kParityTailMagic = 0x0a444e4550524889;  // "\x89HRPEND\n"
inline constexpr size_t kParityHeadBytes = 20;
inline constexpr size_t kParityPieceBytes = 512;  // with a checksum each
inline constexpr size_t kMinParityWidth = 8, kMaxParityWidth = 512;
inline constexpr size_t kMaxParityRegionBytes = 16 << 20;

// The sizes of a record's parts follow from these two.
struct ParityShape {
  uint32_t region_bytes = 0;  // in front of the head
  uint32_t width = 0;         // of the parity

  bool operator==(const ParityShape&) const = default;
  constexpr size_t covered_bytes() const { return region_bytes + kParityHeadBytes; }
  constexpr size_t codeword_bytes() const { return covered_bytes() + width; }
  // Of the covered bytes, then one of the parity.
  constexpr size_t checksums() const { return (covered_bytes() + kParityPieceBytes - 1) / kParityPieceBytes + 1; }
  constexpr size_t tail_bytes() const { return kParityHeadBytes + sizeof(uint32_t) * checksums(); }
  constexpr size_t record_bytes() const { return kParityHeadBytes + width + tail_bytes(); }
};

void AppendParityHead(ByteBuffer* buffer, const ParityShape& shape);
// nullopt: too short, another magic, a checksum that differs, or a size beyond the bounds.
std::optional<ParityShape> DecodeParityHead(Bytes bytes);

struct ParityTail {
  ParityShape shape;
  std::vector<uint32_t> checksums;
};
void AppendParityTail(ByteBuffer* buffer, const ParityTail& tail);
std::optional<ParityTail> DecodeParityTail(Bytes bytes);

// nullptr: the record at the start of `bytes`, whose head says `shape`, is whole. Otherwise why not, as a phrase. What
// it covers is not looked at.
const char* WhyBadParityRecord(const ParityShape& shape, Bytes record);

// Decides where the records of a chunk stand, and makes them.
//
// Context:  drain (it allocates).
class ParityWriter {
 public:
  // What comes next in the chunk.
  void Add(Bytes bytes);
  // Appends a record of what was added since the last one: when that is due, or anyhow (`last`). None if it would make
  // the chunk more than a twentieth longer.
  void AppendIfDue(uint64_t now_ns, ByteBuffer* file);
  void AppendLast(ByteBuffer* file);

 private:
  // `reserve`: bytes that are to be left of what the chunk may spend.
  bool Affords(uint32_t width, size_t reserve) const;
  void Append(uint32_t width, ByteBuffer* file);

  std::array<std::byte, kMaxParityWidth> columns_{};  // of the region so far
  std::vector<uint32_t> checksums_;                   // of its whole pieces
  uint32_t piece_checksum_ = 0;                       // of the one that has begun
  size_t region_bytes_ = 0;
  uint64_t chunk_bytes_ = 0, spent_bytes_ = 0;  // records excluded; records
  uint64_t last_ns_ = 0;
};

}  // namespace heaprec::format
