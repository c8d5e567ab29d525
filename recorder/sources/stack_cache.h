// From the stack as the JVM gives it (jmethodIDs and bcis) to the key of the definition that a lane already carries.
//
// Direct-mapped, one seqlock per slot: bounded, never full; a miss only costs writing the definition again. Identity is
// a 128-bit hash on both sides. Context:  alloc. Readers and writers never wait: a slot being written counts as a miss.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "format/ring_layout.h"

namespace heaprec::sources {

class StackCache {
 public:
  // True: `*content` is the key of a definition committed in `epoch`.
  bool Find(format::StackKey raw, uint32_t epoch, format::StackKey* content) const {
    const Slot& slot = slots_[raw.low % kSlots];
    const uint32_t before = slot.version.load(std::memory_order_acquire);
    if ((before & 1) != 0) return false;
    // Acquire on each word (pairs with Store): who sees a word of a later writer also sees that the version has moved.
    const bool same = slot.raw_low.load(std::memory_order_acquire) == raw.low &&
                      slot.raw_high.load(std::memory_order_acquire) == raw.high &&
                      slot.epoch.load(std::memory_order_acquire) == epoch;
    content->low = slot.content_low.load(std::memory_order_acquire);
    content->high = slot.content_high.load(std::memory_order_acquire);
    return same && slot.version.load(std::memory_order_relaxed) == before;
  }

  // Call after the definition's Commit.
  void Store(format::StackKey raw, uint32_t epoch, format::StackKey content) {
    Slot& slot = slots_[raw.low % kSlots];
    uint32_t version = slot.version.load(std::memory_order_relaxed);
    if ((version & 1) != 0 || !slot.version.compare_exchange_strong(version, version + 1, std::memory_order_acquire))
      return;
    slot.raw_low.store(raw.low, std::memory_order_release);
    slot.raw_high.store(raw.high, std::memory_order_release);
    slot.epoch.store(epoch, std::memory_order_release);
    slot.content_low.store(content.low, std::memory_order_release);
    slot.content_high.store(content.high, std::memory_order_release);
    slot.version.store(version + 2, std::memory_order_release);
  }

 private:
  static constexpr size_t kSlots = 1 << 14;  // 16,384 x 48 bytes = 768 KiB
  struct Slot {
    std::atomic<uint32_t> version{0}, epoch{0};
    std::atomic<uint64_t> raw_low{0}, raw_high{0}, content_low{0}, content_high{0};
  };
  std::array<Slot, kSlots> slots_{};
};

}  // namespace heaprec::sources
