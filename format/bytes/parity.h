// Parity records. Each can repair one damaged run of bytes in the region of the chunk before it.
//
// A codeword is the region, the record's head and the parity, in this order. A byte's column is its offset in the
// codeword modulo the width. The XOR of all bytes of a column is zero. So one damaged run of at most `width` bytes can
// be repaired once it is located; the checksums of pieces, in the record's tail, locate it.
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

// CRC-32 of IEEE 802.3, as in gzip: detects every burst error of up to 32 bits.
inline constexpr std::array<uint32_t, 256> kCrc32Table = [] {
  constexpr uint32_t kReversedPolynomial = 0xedb88320;
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ ((value & 1) != 0 ? kReversedPolynomial : 0);
    table[i] = value;
  }
  return table;
}();

// `before`: the checksum of the preceding bytes, to continue from.
inline uint32_t Crc32(Bytes bytes, uint32_t before = 0) {
  uint32_t value = ~before;
  for (const std::byte byte : bytes) {
    value = value >> 8 ^ kCrc32Table[(value ^ static_cast<uint32_t>(byte)) & 0xff];
  }
  return ~value;
}

inline constexpr uint64_t kParityHeadMagic = 0x0a59545250524889;  // "\x89HRPRTY\n"
inline constexpr uint64_t kParityTailMagic = 0x0a444e4550524889;  // "\x89HRPEND\n"
inline constexpr size_t kParityHeadBytes = 20;
inline constexpr size_t kParityPieceBytes = 512;  // each has a checksum
inline constexpr size_t kMinParityWidth = 8, kMaxParityWidth = 512;
inline constexpr size_t kMaxParityRegionBytes = 16 << 20;

// All sizes in a record follow from these two.
struct ParityShape {
  uint32_t region_bytes = 0;  // bytes before the head
  uint32_t width = 0;         // bytes of parity

  bool operator==(const ParityShape&) const = default;
  constexpr size_t covered_bytes() const { return region_bytes + kParityHeadBytes; }
  constexpr size_t codeword_bytes() const { return covered_bytes() + width; }
  // One for each piece of the covered bytes, then one for the parity.
  constexpr size_t checksums() const { return (covered_bytes() + kParityPieceBytes - 1) / kParityPieceBytes + 1; }
  constexpr size_t tail_bytes() const { return kParityHeadBytes + sizeof(uint32_t) * checksums(); }
  constexpr size_t record_bytes() const { return kParityHeadBytes + width + tail_bytes(); }
};

void AppendParityHead(ByteBuffer* buffer, const ParityShape& shape);
// Returns nullopt if the bytes are too short, have another magic number, do not match the checksum, or exceed a limit.
std::optional<ParityShape> DecodeParityHead(Bytes bytes);

struct ParityTail {
  ParityShape shape;
  std::vector<uint32_t> checksums;
};
void AppendParityTail(ByteBuffer* buffer, const ParityTail& tail);
std::optional<ParityTail> DecodeParityTail(Bytes bytes);

// Returns nullptr if the record, whose head says `shape`, is intact; otherwise a phrase that says why not. Does not
// check the bytes that the record covers.
const char* WhyBadParityRecord(const ParityShape& shape, Bytes record);

// Decides where the parity records of a chunk go, and makes them.
//
// Context:  drain (it allocates).
class ParityWriter {
 public:
  // Adds the next bytes of the chunk.
  void Add(Bytes bytes);
  // Each appends a record for the bytes added since the last one; AppendIfDue only if one is due. Neither does so if
  // parity would exceed a twentieth of the chunk.
  void AppendIfDue(uint64_t now_ns, ByteBuffer* file);
  void AppendLast(ByteBuffer* file);

 private:
  // `reserve`: bytes of the chunk's allowance to leave unused.
  bool Affords(uint32_t width, size_t reserve) const;
  void Append(uint32_t width, ByteBuffer* file);

  std::array<std::byte, kMaxParityWidth> columns_{};  // of the current region
  std::vector<uint32_t> checksums_;                   // of the region's complete pieces
  uint32_t piece_checksum_ = 0;                       // of the region's incomplete piece
  size_t region_bytes_ = 0;
  uint64_t chunk_bytes_ = 0, spent_bytes_ = 0;  // of data; of records
  uint64_t last_ns_ = 0;
};

}  // namespace heaprec::format
