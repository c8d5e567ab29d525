// A sample's call path as one word. The second stage sorts by it, so that each site keeps its share of samples.
//
// Context:  alloc. Reads only the frames.
// Format:   docs/format/ring.md (SampleRecord.call_path)
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "format/ring/ring_records.h"

namespace heaprec::format {

// Four 16-bit hashes of the nearest methods, the leaf's in the top bits, so that stacks with the same innermost frames
// are neighbours. The hashes are bits of the methods' keys; bcis are ignored. The hash of a gap frame is 0.
inline uint64_t CallPathKey(std::span<const RingFrame> leaf_first) {
  constexpr size_t kMethods = 4;
  constexpr int kBits = 16;
  uint64_t path = 0;
  for (size_t i = 0; i < std::min(leaf_first.size(), kMethods); ++i)
    path |= leaf_first[i].method >> (64 - kBits) << (kBits * static_cast<int>(kMethods - 1 - i));
  return path;
}

}  // namespace heaprec::format
