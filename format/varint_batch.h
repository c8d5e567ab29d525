// Many values of a column at once: most are short, and are found by words.
//
// Failure:  as ByteCursor: behind its end a cursor yields zeros and stays failed.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "format/bytes.h"

namespace heaprec::format {

// As many as `into` has room for: what ByteCursor::Varint would yield.
inline void TakeVarints(ByteCursor* cursor, std::span<uint64_t> into) {
  constexpr uint64_t kGoesOn = 0x8080808080808080;  // the bits of bytes that are not the last of theirs
  size_t done = 0;
  while (into.size() - done >= sizeof(uint64_t) && cursor->left() >= sizeof(uint64_t)) {
    const uint64_t word = ByteCursor(*cursor).U64();
    const auto shorts = static_cast<size_t>(std::countr_zero(word & kGoesOn)) / 8;
    for (size_t i = 0; i < sizeof(word); ++i) into[done + i] = word >> (8 * i) & 0xff;
    done += shorts;
    cursor->Take(shorts);
    if (shorts < sizeof(word)) into[done++] = cursor->Varint();
  }
  for (; done < into.size() && cursor->left() > 0; ++done) into[done] = cursor->Varint();
  if (done == into.size()) return;
  cursor->Varint();  // has failed, or is of a column that is not there
  std::fill(into.begin() + static_cast<std::ptrdiff_t>(done), into.end(), 0);
}

}  // namespace heaprec::format
