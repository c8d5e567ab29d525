#include "recorder/hotspot/stacks/code_cache.h"

#include <algorithm>

namespace heaprec::hotspot {

// The heaps are made when the JVM starts, and stay.
CodeCache::CodeCache(const StackLayout& layout) : layout_(layout) {
  const char* const list = Load<const char*>(reinterpret_cast<const char*>(layout.cache.heaps));
  if (list == nullptr) return;
  const auto count = static_cast<size_t>(std::max(0, Load<int32_t>(list + layout.cache.heap_count)));
  const char* const heaps = Load<const char*>(list + layout.cache.heap_list);
  for (heap_count_ = 0; heap_count_ < std::min(count, kMaxHeaps); ++heap_count_)
    heaps_[heap_count_] = Load<const char*>(heaps + heap_count_ * sizeof(void*));
}

}  // namespace heaprec::hotspot
