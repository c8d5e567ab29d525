#include "recorder/hotspot/stacks/compiled_method.h"

#include <algorithm>

namespace heaprec::hotspot {

// Before 25 the blob contains metadata, scopes and PcDescs in this order. In 25 immutable data contains PcDescs, then
// scopes.
CompiledMethod::Area CompiledMethod::Scopes() const {
  if (layout_.has_distances) {
    const char* const begin = Distance(layout_.compiled.scopes_data);
    const char* const end = PointerTo(blob_, layout_.immutable_data) + Load<int32_t>(blob_ + layout_.immutable_size);
    return {begin, end > begin ? static_cast<size_t>(end - begin) : 0};
  }
  const char* const begin = PointerTo(blob_, layout_.compiled.scopes_data);
  const char* const end = Distance(layout_.compiled.scopes_pcs);
  return {begin, end > begin ? static_cast<size_t>(end - begin) : 0};
}

const VmMethod* CompiledMethod::MethodAt(uint32_t index) const {
  const char* begin = nullptr;
  const char* end = nullptr;
  if (layout_.has_distances) {
    const char* const data = PointerTo(blob_, layout_.mutable_data);
    begin = data + Load<int32_t>(blob_ + layout_.relocation_size);
    end = data + Load<int32_t>(blob_ + layout_.mutable_size);
  } else {
    begin = blob_ + Load<int32_t>(blob_ + layout_.compiled.metadata);
    end = PointerTo(blob_, layout_.compiled.scopes_data);
  }
  // Index 0 is null.
  if (index == 0 || end < begin || index > static_cast<size_t>(end - begin) / sizeof(void*)) return nullptr;
  return reinterpret_cast<const VmMethod*>(PointerAt(begin, (index - 1) * sizeof(void*)));
}

// The PcDescs are sorted by address. Returns 0 if there is none for `pc`.
uint32_t CompiledMethod::FindScope(uintptr_t pc) const {
  const Area descs = PcDescs();
  const auto wanted = static_cast<int64_t>(pc - CodeBegin());
  size_t first = 0;
  size_t last = descs.size / layout_.pc_desc_size;
  while (first < last) {
    const size_t middle = (first + last) / 2;
    const char* const desc = descs.begin + middle * layout_.pc_desc_size;
    const int64_t at = Load<int32_t>(desc + layout_.pc_desc_pc);
    if (at == wanted) return static_cast<uint32_t>(Load<int32_t>(desc + layout_.pc_desc_scope));
    if (at < wanted)
      first = middle + 1;
    else
      last = middle;
  }
  return 0;
}

// The heaps are created when the JVM starts, and are never removed.
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
