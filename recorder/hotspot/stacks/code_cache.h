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
#include <span>

#include "recorder/hotspot/libjvm/raw_memory.h"
#include "recorder/hotspot/stacks/stack_layout.h"

namespace heaprec::hotspot {

class CodeCache {
 public:
  explicit CodeCache(const StackLayout& layout);

  // The CodeBlob that contains `pc`, or null.
  const char* Find(uintptr_t pc) const {
    for (const Heap& heap : std::span(heaps_).first(heap_count_)) {
      if (pc >= heap.low) return pc < Load<uintptr_t>(heap.high) ? FindIn(heap, pc) : nullptr;
    }
    return nullptr;
  }

 private:
  // What never changes: a point whose caches others have emptied reads one line of a heap, not three of each.
  struct Heap {
    uintptr_t low;
    const uint8_t* segments;
    const char* high;  // where the heap has its present end
    uint32_t log2_segment;
  };

  // Each segment of a used block has a number of segments to go back, at most to the block's first one.
  const char* FindIn(const Heap& heap, uintptr_t pc) const {
    constexpr uint8_t kUnused = 0xff;
    const uint8_t* const map = heap.segments;
    uintptr_t segment = (pc - heap.low) >> heap.log2_segment;
    if (map[segment] == kUnused) return nullptr;
    while (map[segment] != 0) {
      if (map[segment] > segment) return nullptr;
      segment -= map[segment];
    }
    const uintptr_t block = heap.low + (segment << heap.log2_segment);
    const uintptr_t blob = block + layout_.cache.block_size;
    // The lines of the blob's header that a walk reads next, one after the other if they were not all asked for here.
    for (const size_t field : {layout_.blob.name, layout_.compiled.method, layout_.compiled.compile_id})
      __builtin_prefetch(reinterpret_cast<const char*>(blob + field));  // NOLINT(performance-no-int-to-ptr)
    if (Load<uint8_t>(block + layout_.cache.block_used) == 0) return nullptr;
    const auto size = static_cast<uintptr_t>(Load<int32_t>(blob + layout_.blob.size));
    if (pc < blob || pc >= blob + size) return nullptr;
    return reinterpret_cast<const char*>(blob);  // NOLINT(performance-no-int-to-ptr)
  }

  static constexpr size_t kMaxHeaps = 8;  // HotSpot has one or three
  StackLayout layout_;
  std::array<Heap, kMaxHeaps> heaps_{};  // the highest one first
  size_t heap_count_ = 0;
};

}  // namespace heaprec::hotspot
