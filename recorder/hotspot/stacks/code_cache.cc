#include "recorder/hotspot/stacks/code_cache.h"

#include <algorithm>
#include <functional>

namespace heaprec::hotspot {

// The heaps are made when the JVM starts, and stay.
CodeCache::CodeCache(const StackLayout& layout) : layout_(layout) {
  const char* const list = Load<const char*>(reinterpret_cast<const char*>(layout.cache.heaps));
  if (list == nullptr) return;
  const auto count = static_cast<size_t>(std::max(0, Load<int32_t>(list + layout.cache.heap_count)));
  const char* const heaps = Load<const char*>(list + layout.cache.heap_list);
  for (heap_count_ = 0; heap_count_ < std::min(count, kMaxHeaps); ++heap_count_) {
    const char* const heap = Load<const char*>(heaps + heap_count_ * sizeof(void*));
    const char* const memory = heap + layout.cache.memory;
    heaps_[heap_count_] = {Load<uintptr_t>(memory + layout.cache.low),
                           Load<const uint8_t*>(heap + layout.cache.segments + layout.cache.low),
                           memory + layout.cache.high, Load<uint32_t>(heap + layout.cache.log2_segment)};
  }
  std::ranges::sort(std::span(heaps_).first(heap_count_), std::ranges::greater{}, &Heap::low);
}

}  // namespace heaprec::hotspot
