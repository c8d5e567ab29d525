// A compiled method on the calling thread's stack: the kind of its frame, and the methods that the frame represents.
//
// Units:    addresses of this process.
// Context:  alloc: as CodeCache::Find.
// Threads:  any.
// Failure:  ForEachScope returns false if there is no debug information at that address, or it is inconsistent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "recorder/hotspot/memory.h"
#include "recorder/hotspot/metadata/names.h"
#include "recorder/hotspot/stacks/stack_layout.h"

namespace heaprec::hotspot {

// The code cache: finds the blob that contains a return address.
//
// Units:    addresses of this process.
// Context:  setup: the constructor. Find: alloc; a Java thread in native state looks up addresses on its own stack, so
//           the blob cannot be freed meanwhile.
// Threads:  any.
// Failure:  null for an address outside of all blobs.
class CodeCache {
 public:
  explicit CodeCache(const StackLayout& layout);

  // Returns the CodeBlob that contains `pc`, or null.
  const char* Find(uintptr_t pc) const {
    for (const Heap& heap : std::span(heaps_).first(heap_count_)) {
      if (pc >= heap.low) return pc < Load<uintptr_t>(heap.high) ? FindIn(heap, pc) : nullptr;
    }
    return nullptr;
  }

 private:
  // Constants of a heap, so that a lookup with cold caches reads one cache line of it instead of three.
  struct Heap {
    uintptr_t low;
    const uint8_t* segments;
    const char* high;  // address of the heap's current end
    uint32_t log2_segment;
  };

  // Each segment of a used block contains the number of segments to go back, at most to the first one of the block.
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
    // Prefetches the lines of the blob's header that a walk reads next; otherwise they would be loaded one after the
    // other.
    for (const size_t field : {layout_.blob.name, layout_.compiled.method, layout_.compiled.compile_id})
      __builtin_prefetch(reinterpret_cast<const char*>(blob + field));  // NOLINT(performance-no-int-to-ptr)
    if (Load<uint8_t>(block + layout_.cache.block_used) == 0) return nullptr;
    const auto size = static_cast<uintptr_t>(Load<int32_t>(blob + layout_.blob.size));
    if (pc < blob || pc >= blob + size) return nullptr;
    return reinterpret_cast<const char*>(blob);  // NOLINT(performance-no-int-to-ptr)
  }

  static constexpr size_t kMaxHeaps = 8;  // HotSpot has one or three
  StackLayout layout_;
  std::array<Heap, kMaxHeaps> heaps_{};  // the one with the highest address first
  size_t heap_count_ = 0;
};

class CompiledMethod {
 public:
  CompiledMethod(const StackLayout& layout, const char* blob) : layout_(layout), blob_(blob) {}

  static bool Is(const StackLayout& layout, const char* blob) {
    if (layout.has_distances) return Load<uint8_t>(blob + layout.blob.kind) == layout.nmethod_kind;
    // Eight bytes distinguish the two names from all others; the first includes the terminator.
    constexpr char kNmethod[8] = {'n', 'm', 'e', 't', 'h', 'o', 'd', '\0'},
                   kNative[8] = {'n', 'a', 't', 'i', 'v', 'e', ' ', 'n'};
    const char* const name = PointerTo(blob, layout.blob.name);
    return name != nullptr &&
           (std::memcmp(name, kNmethod, sizeof(kNmethod)) == 0 || std::memcmp(name, kNative, sizeof(kNative)) == 0);
  }

  const VmMethod* method() const {
    return reinterpret_cast<const VmMethod*>(PointerAt(blob_, layout_.compiled.method));
  }
  // Assigned once by the JVM and never reused for another compilation.
  uint32_t compile_id() const { return Load<uint32_t>(blob_ + layout_.compiled.compile_id); }
  // HotSpot's CompLevel: 1 to 3 are C1's, 4 is C2's. An int or a byte, depending on the JDK.
  int level() const { return Load<int8_t>(blob_ + layout_.compiled.level); }
  // The offset of `pc` in the code.
  uintptr_t OffsetOf(uintptr_t pc) const { return pc - CodeBegin(); }

  // Returns the address to which the frame at `sp` returns: `pc`, except for a deoptimised frame. The return address of
  // such a frame was replaced by a handler's; the original is in the frame.
  uintptr_t OriginalPc(uintptr_t pc, uintptr_t sp) const {
    if (pc != Address(layout_.compiled.deopt_handler) && pc != Address(layout_.compiled.deopt_mh_handler)) return pc;
    return Load<uintptr_t>(sp + static_cast<size_t>(Load<int32_t>(blob_ + layout_.compiled.original_pc)));
  }

  // Calls visit(const VmMethod*, int bci, bool is_inlined) for the methods at `pc`, innermost first.
  template <typename Visit>
  bool ForEachScope(uintptr_t pc, const Visit& visit) const {
    uint32_t scope = FindScope(pc);
    if (scope == 0) return false;
    const Area scopes = Scopes();
    for (int inlined = 0; scope != 0; ++inlined) {
      constexpr int kMaxInlined = 1 << 12;
      if (scope >= scopes.size || inlined == kMaxInlined) return false;
      Unsigned5Reader reader(reinterpret_cast<const uint8_t*>(scopes.begin) + scope, scopes.size - scope,
                             layout_.excluded_bytes);
      uint32_t sender = 0;
      uint32_t method = 0;
      uint32_t bci = 0;
      if (!reader.Next(&sender) || !reader.Next(&method) || !reader.Next(&bci)) return false;
      const VmMethod* const of = MethodAt(method);
      if (of == nullptr) return false;
      // Stored plus one. After subtraction, -1 means the entry of a synchronized method, before its first bytecode.
      visit(of, bci == 0 ? 0 : static_cast<int>(bci) - 1, sender != 0);
      if (sender >= scope && sender != 0) return false;  // scopes are written from the outermost to the innermost
      scope = sender;
    }
    return true;
  }

 private:
  struct Area {
    const char* begin;
    size_t size;
  };

  static const char* PointerTo(const char* base, size_t offset) { return Load<const char*>(base + offset); }
  // A field that holds an address (before 25) or a distance from the blob.
  uintptr_t Address(size_t field) const {
    if (!layout_.has_distances) return Load<uintptr_t>(blob_ + field);
    return reinterpret_cast<uintptr_t>(blob_) + static_cast<uintptr_t>(intptr_t{Load<int32_t>(blob_ + field)});
  }
  uintptr_t CodeBegin() const { return Address(layout_.blob.code_begin); }
  const char* Distance(size_t field) const {
    const char* const base = layout_.has_distances ? PointerTo(blob_, layout_.immutable_data) : blob_;
    return base + Load<int32_t>(blob_ + field);
  }
  Area PcDescs() const {
    const char* const begin = Distance(layout_.compiled.scopes_pcs);
    const char* const end = Distance(layout_.compiled.scopes_end);
    return {begin, end > begin ? static_cast<size_t>(end - begin) : 0};
  }
  Area Scopes() const;
  const VmMethod* MethodAt(uint32_t index) const;
  uint32_t FindScope(uintptr_t pc) const;

  const StackLayout& layout_;
  const char* const blob_;
};

}  // namespace heaprec::hotspot
