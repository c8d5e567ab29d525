// The code cache: finds the blob that contains a return address.
//
// Units:    addresses of this process.
// Context:  setup: the constructor. Find: alloc; a Java thread in native state looks up addresses on its own stack, so
//           what is found cannot be freed meanwhile.
// Threads:  any.
// Failure:  null for an address outside of all blobs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "recorder/hotspot/libjvm/raw_memory.h"
#include "recorder/hotspot/stacks/stack_layout.h"

namespace heaprec::hotspot {

class CodeCache {
 public:
  explicit CodeCache(const StackLayout& layout);

  // The CodeBlob that contains `pc`, or null.
  const char* Find(uintptr_t pc) const {
    for (size_t i = 0; i < heap_count_; ++i) {
      const char* const memory = heaps_[i] + layout_.cache.memory;
      const auto low = Load<uintptr_t>(memory + layout_.cache.low);
      if (pc < low || pc >= Load<uintptr_t>(memory + layout_.cache.high)) continue;
      return FindIn(heaps_[i], low, pc);
    }
    return nullptr;
  }

 private:
  // Each segment of a used block has a number of segments to go back, at most to the block's first one.
  const char* FindIn(const char* heap, uintptr_t low, uintptr_t pc) const {
    constexpr uint8_t kUnused = 0xff;
    const auto log2 = Load<uint32_t>(heap + layout_.cache.log2_segment);
    const auto map = Load<const uint8_t*>(heap + layout_.cache.segments + layout_.cache.low);
    uintptr_t segment = (pc - low) >> log2;
    if (map[segment] == kUnused) return nullptr;
    while (map[segment] != 0) {
      if (map[segment] > segment) return nullptr;
      segment -= map[segment];
    }
    const uintptr_t block = low + (segment << log2);
    if (Load<uint8_t>(block + layout_.cache.block_used) == 0) return nullptr;
    const uintptr_t blob = block + layout_.cache.block_size;
    const auto size = static_cast<uintptr_t>(Load<int32_t>(blob + layout_.blob.size));
    if (pc < blob || pc >= blob + size) return nullptr;
    return reinterpret_cast<const char*>(blob);  // NOLINT(performance-no-int-to-ptr)
  }

  static constexpr size_t kMaxHeaps = 8;  // HotSpot has one or three
  StackLayout layout_;
  std::array<const char*, kMaxHeaps> heaps_{};
  size_t heap_count_ = 0;
};

}  // namespace heaprec::hotspot
