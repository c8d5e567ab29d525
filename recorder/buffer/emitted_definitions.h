// Which definitions the lanes already have: a thread writes a class, method, stack or thread only if it is not here.
//
// A direct-mapped cache of single words, so it is bounded, lock-free and never full. A collision or a new epoch only
// costs writing a definition again, which readers accept any number of times.
//
// Context:  alloc.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heaprec::buffer {

template <size_t kSlots>
class EmittedDefinitions {
  static_assert((kSlots & (kSlots - 1)) == 0);

 public:
  // Acquire: whoever sees the mark also sees the committed definition (pairs with Mark).
  bool Has(uint64_t key, uint32_t epoch) const {
    return slots_[key % kSlots].load(std::memory_order_acquire) == Tag(key, epoch);
  }
  // Call after the definition's Commit.
  void Mark(uint64_t key, uint32_t epoch) { slots_[key % kSlots].store(Tag(key, epoch), std::memory_order_release); }

 private:
  // Never 0 in practice (an empty slot): keys are 64-bit hashes.
  static uint64_t Tag(uint64_t key, uint32_t epoch) { return key ^ (uint64_t{epoch} * 0x9e3779b97f4a7c15u) ^ 1; }
  std::array<std::atomic<uint64_t>, kSlots> slots_{};
};

}  // namespace heaprec::buffer
