// HotSpot's compressed integers: base 64, least significant digit first; a byte below a limit is the
// last (utilities/unsigned5).
//
// Context:  any.
// Failure:  Next is false at the end of the bytes, and at a byte that is not a digit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heaprec::hotspot {

class Unsigned5Reader {
 public:
  // excluded: byte values below this are not digits (1 since JDK 20).
  Unsigned5Reader(const uint8_t* bytes, size_t size, uint8_t excluded)
      : next_(bytes), end_(bytes + size), excluded_(excluded) {}

  bool Next(uint32_t* out) {
    const uint32_t limit = 256 - 64 - excluded_;
    uint32_t sum = 0;
    for (int shift = 0; shift <= 24; shift += 6) {
      if (next_ == end_ || *next_ < excluded_) return false;
      const uint32_t digit = *next_++ - uint32_t{excluded_};
      sum += digit << shift;
      if (digit < limit) break;
    }
    *out = sum;
    return true;
  }
  bool NextSigned(int* out) {
    uint32_t value = 0;
    if (!Next(&value)) return false;
    *out = static_cast<int>((value >> 1) ^ (0 - (value & 1)));
    return true;
  }
  // The next byte, not decoded; false at the end.
  bool Byte(uint8_t* out) {
    if (next_ == end_) return false;
    *out = *next_++;
    return true;
  }

 private:
  const uint8_t* next_;
  const uint8_t* end_;
  uint8_t excluded_;
};

}  // namespace heaprec::hotspot
