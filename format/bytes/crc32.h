// CRC-32 of IEEE 802.3, as in gzip: detects every burst error of up to 32 bits.
//
// Format:   docs/format/recording.md#parity
#pragma once

#include <array>
#include <cstdint>

#include "format/bytes/bytes.h"

namespace heaprec::format {

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

}  // namespace heaprec::format
