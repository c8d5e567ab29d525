// Where a sample was taken, as one word: what the second stage sorts by, so that a site keeps its share.
//
// Context:  alloc. No memory but the frames is touched.
// Format:   docs/format/ring.md (SampleRecord.path)
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "format/ring/ring_records.h"

namespace heaprec::format {

// Four 16-bit hashes of the nearest methods, the leaf's in the top bits: stacks that begin alike are neighbours. Of the
// methods' keys, which are hashes already; bcis do not count. Frames that were left out have none.
inline uint64_t CallPathKey(std::span<const RingFrame> leaf_first) {
  constexpr size_t kMethods = 4;
  constexpr int kBits = 16;
  uint64_t path = 0;
  for (size_t i = 0; i < std::min(leaf_first.size(), kMethods); ++i)
    path |= leaf_first[i].method >> (64 - kBits) << (kBits * static_cast<int>(kMethods - 1 - i));
  return path;
}

}  // namespace heaprec::format
