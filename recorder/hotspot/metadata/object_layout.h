// HotSpot's layout of objects: finds class and size of each object in contiguously allocated memory, such as a TLAB.
//
// Units:    bytes.
// Context:  setup: Resolve. The rest: any in which the memory does not change and its objects have headers: the
//           allocating thread, in the VM, or a collector before it moves objects.
// Failure:  Resolve returns an Error for a JVM whose object headers are unknown. Walk stops at anything that is not
//           an object.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "recorder/hotspot/memory.h"
#include "recorder/hotspot/metadata/names.h"
#include "recorder/hotspot/vm_structs.h"

namespace heaprec::hotspot {

class ObjectLayout {
 public:
  static Result<ObjectLayout> Resolve(const VmStructs& structs, const JdkRules& rules, const Names& names);

  // The offset of the field `size` in a jdk.internal.vm.StackChunk (stacks of virtual threads, JDK 21 and later). Their
  // size is stored nowhere else; without the offset a walk ends at the first of them.
  void SetStackChunkSize(size_t offset) { chunk_size_ = offset; }

  // Classes that a walk has met. Before it reads another class, it asks the kernel whether the memory is readable.
  class Known {
   public:
    bool Has(const void* klass) const { return of_[SlotOf(klass)] == klass; }
    void Add(const void* klass) { of_[SlotOf(klass)] = klass; }

   private:
    static constexpr size_t kSlots = 256;
    static size_t SlotOf(const void* klass) { return reinterpret_cast<uintptr_t>(klass) / 8 % kSlots; }
    const void* of_[kSlots] = {};
  };

  // An object's class as its header has it, the class itself (null: no object), and the length of an array.
  uint64_t ClassWordOf(uint64_t object) const {
    return header_ == Header::kWide         ? Load<uint64_t>(object + klass_offset_)
           : header_ == Header::kCompressed ? Load<uint32_t>(object + klass_offset_)
                                            : Load<uint64_t>(object) >> mark_shift_;
  }
  const char* ClassOf(uint64_t class_word) const { return static_cast<const char*>(KlassOf(class_word)); }
  uint32_t LengthOf(uint64_t array) const { return Load<uint32_t>(array + length_offset_); }
  int32_t LayoutOf(const char* klass) const { return Load<int32_t>(klass + layout_helper_); }

  // Calls visit(klass, size) for each object in [begin, end), in order. Returns false if it stopped before `end`.
  // `known`: a Known, or an object with its two functions.
  template <typename KnownClasses, typename Visit>
  bool Walk(uint64_t begin, uint64_t end, KnownClasses* known, const Visit& visit) const {
    switch (header_) {
      case Header::kWide:
        return WalkAs<Header::kWide>(begin, end, known, visit);
      case Header::kCompressed:
        return WalkAs<Header::kCompressed>(begin, end, known, visit);
      case Header::kCompact:
        return WalkAs<Header::kCompact>(begin, end, known, visit);
    }
    return false;
  }

  // In bytes.
  uint64_t SizeOf(uint64_t object) const {
    const void* const klass = KlassOf(ClassWordOf(object));
    const uint64_t fixed = FixedSizeOf(klass);
    return fixed != 0 ? fixed : SizeAt(object, klass);
  }

 private:
  static constexpr uint64_t kMinObject = 8;

  enum class Header { kWide, kCompressed, kCompact };

  // Adjacent objects often have the same class, so the last object's class is not looked up again.
  template <Header kHeader, typename KnownClasses, typename Visit>
  bool WalkAs(uint64_t begin, uint64_t end, KnownClasses* known, const Visit& visit) const {
    const size_t klass_offset = klass_offset_;
    const int mark_shift = mark_shift_;
    uint64_t last_word = 0, fixed_size = 0;  // 0: the size varies
    const void* klass = nullptr;
    while (begin < end) {
      const uint64_t word = kHeader == Header::kWide         ? Load<uint64_t>(begin + klass_offset)
                            : kHeader == Header::kCompressed ? Load<uint32_t>(begin + klass_offset)
                                                             : Load<uint64_t>(begin) >> mark_shift;
      if (word != last_word || word == 0) {
        klass = KlassOf(word);
        if (klass == nullptr) return false;
        if (!known->Has(klass)) {
          if (!IsReadable(klass)) return false;
          known->Add(klass);
        }
        last_word = word;
        fixed_size = FixedSizeOf(klass);
      }
      const uint64_t size = fixed_size != 0 ? fixed_size : SizeAt(begin, klass);
      if (size < kMinObject || size % 8 != 0 || size > end - begin) return false;
      visit(klass, size);
      begin += size;
    }
    return true;
  }

  // Returns the class in a word of an object's header; null if there is none.
  const void* KlassOf(uint64_t word) const;
  bool IsReadable(const void* klass) const;
  // Returns the size of all instances of the class; 0: it varies.
  uint64_t FixedSizeOf(const void* klass) const {
    const auto helper = Load<int32_t>(static_cast<const char*>(klass) + layout_helper_);
    return helper > 0 && (helper & 1) == 0 ? Aligned(static_cast<uint64_t>(helper)) : 0;
  }
  uint64_t SizeAt(uint64_t object, const void* klass) const;
  uint64_t SlowSizeAt(uint64_t object, const void* klass, uint64_t instance) const;
  uint64_t Aligned(uint64_t bytes) const { return (bytes + alignment_ - 1) & ~(alignment_ - 1); }

  Header header_ = Header::kWide;
  size_t klass_offset_ = 0;  // offset in an object
  int mark_shift_ = 0;       // compact headers: the class is above these bits of the mark word
  const char* const* narrow_base_ = nullptr;
  const int* narrow_shift_ = nullptr;
  size_t layout_helper_ = 0;          // offset in a class
  size_t length_offset_ = 0;          // offset in an array
  const int* mirror_size_ = nullptr;  // java_lang_Class::_oop_size_offset
  size_t chunk_size_ = 0;             // offset in a StackChunk; 0: unknown
  bool compressed_oops_ = true;
  uint64_t alignment_ = 8;
  Names names_;
};

}  // namespace heaprec::hotspot
