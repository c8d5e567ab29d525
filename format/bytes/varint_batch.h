// Decodes many varints of a column at once. Most are short; they are decoded from words of eight bytes.
//
// Failure:  as ByteCursor: beyond its end a cursor returns zeros, and ok() stays false.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "format/bytes/bytes.h"

namespace heaprec::format {

// Decodes the varint in the first `size` bytes of a word, at most four.
inline uint64_t ShortVarint(uint64_t word, size_t size) {
  const uint64_t bytes = word & (~uint64_t{0} >> (64 - 8 * size));
  return (bytes & 0x7f) | (bytes >> 1 & 0x7f << 7) | (bytes >> 2 & 0x7f << 14) | (bytes >> 3 & 0x7f << 21);
}

// Fills `into` with the values that ByteCursor::Varint would return.
inline void TakeVarints(ByteCursor* cursor, std::span<uint64_t> into) {
  constexpr uint64_t kGoesOn = 0x8080808080808080;  // the continuation bits
  constexpr size_t kMostly = 4, kShort = 4;
  size_t done = 0;
  while (into.size() - done >= sizeof(uint64_t) && cursor->left() >= sizeof(uint64_t)) {
    const uint64_t word = ByteCursor(*cursor).U64();
    const auto singles = static_cast<size_t>(std::countr_zero(word & kGoesOn)) / 8;
    if (singles >= kMostly) {
      for (size_t i = 0; i < sizeof(word); ++i) into[done + i] = word >> (8 * i) & 0xff;
      done += singles;
      cursor->Take(singles);
      continue;
    }
    const auto size = static_cast<size_t>(std::countr_zero(~word & kGoesOn)) / 8 + 1;
    if (size > kShort) {
      into[done++] = cursor->Varint();
      continue;
    }
    into[done++] = ShortVarint(word, size);
    cursor->Take(size);
  }
  for (; done < into.size() && cursor->left() > 0; ++done) into[done] = cursor->Varint();
  if (done == into.size()) return;
  cursor->Varint();  // the cursor has failed, or the column is absent
  std::fill(into.begin() + static_cast<std::ptrdiff_t>(done), into.end(), 0);
}

}  // namespace heaprec::format
