// Caches the keys of frames and stacks that were sampled before.
//
// Direct-mapped, one seqlock per slot: bounded and never full; after a miss, names or frames are read again.
//
// Context:  alloc. Readers and writers never wait: a slot being written counts as a miss.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "format/ring/ring_records.h"

namespace heaprec::sources {

// For a code key (MethodFrame::code_key): the line, and the key of a method whose definition is already in a lane.
struct KnownFrame {
  uint64_t method = 0;
  int32_t line = -1;
  bool operator==(const KnownFrame&) const = default;
};

class FrameCache {
 public:
  // Returns nullopt if the frame's method has no definition committed in `epoch`.
  std::optional<KnownFrame> Find(uint64_t code_key, uint32_t epoch) const {
    const Slot& slot = slots_[SlotOf(code_key)];
    const uint32_t before = slot.version.load(std::memory_order_acquire);
    // Acquire on each word (pairs with Store): a thread that sees a word of a later writer also sees the new version.
    const bool same = (before & 1) == 0 && slot.code_key.load(std::memory_order_acquire) == code_key &&
                      slot.epoch.load(std::memory_order_acquire) == epoch;
    const KnownFrame known{slot.method.load(std::memory_order_acquire), slot.line.load(std::memory_order_acquire)};
    if (!same || slot.version.load(std::memory_order_relaxed) != before) return std::nullopt;
    return known;
  }

  // code_key != 0. Call after the definition's Commit.
  void Store(uint64_t code_key, uint32_t epoch, const KnownFrame& known) {
    Slot& slot = slots_[SlotOf(code_key)];
    uint32_t version = slot.version.load(std::memory_order_relaxed);
    if ((version & 1) != 0 || !slot.version.compare_exchange_strong(version, version + 1, std::memory_order_acquire))
      return;
    slot.code_key.store(code_key, std::memory_order_release);
    slot.epoch.store(epoch, std::memory_order_release);
    slot.method.store(known.method, std::memory_order_release);
    slot.line.store(known.line, std::memory_order_release);
    slot.version.store(version + 2, std::memory_order_release);
  }

 private:
  static constexpr int kSlotBits = 12;  // 4,096 x 32 bytes = 128 KiB
  static uint64_t SlotOf(uint64_t code_key) { return (code_key * 0x9e3779b97f4a7c15u) >> (64 - kSlotBits); }
  struct alignas(32) Slot {
    std::atomic<uint32_t> version{0}, epoch{0};
    std::atomic<uint64_t> code_key{0}, method{0};
    std::atomic<int32_t> line{0};
  };
  std::array<Slot, 1 << kSlotBits> slots_{};
};

// For a stack's identity in this process, a 128-bit hash: the key of its definition, a second key, and its call path.
struct KnownStack {
  format::StackKey key{};
  uint64_t call_path = 0;  // SampleRecord.call_path
  bool operator==(const KnownStack&) const = default;
};

class StackCache {
 public:
  std::optional<KnownStack> Find(format::StackKey raw) const {
    const Slot& slot = slots_[raw.low % kSlots];
    const uint32_t before = slot.version.load(std::memory_order_acquire);
    if ((before & 1) != 0) return std::nullopt;
    // Acquire on each word (pairs with Store): a thread that sees a word of a later writer also sees the new version.
    const bool same = slot.raw_low.load(std::memory_order_acquire) == raw.low &&
                      slot.raw_high.load(std::memory_order_acquire) == raw.high;
    const KnownStack known{
        {slot.key_low.load(std::memory_order_acquire), slot.key_high.load(std::memory_order_acquire)},
        slot.call_path.load(std::memory_order_acquire)};
    if (!same || slot.version.load(std::memory_order_relaxed) != before) return std::nullopt;
    return known;
  }

  void Store(format::StackKey raw, const KnownStack& known) {
    Slot& slot = slots_[raw.low % kSlots];
    uint32_t version = slot.version.load(std::memory_order_relaxed);
    if ((version & 1) != 0 || !slot.version.compare_exchange_strong(version, version + 1, std::memory_order_acquire))
      return;
    slot.raw_low.store(raw.low, std::memory_order_release);
    slot.raw_high.store(raw.high, std::memory_order_release);
    slot.key_low.store(known.key.low, std::memory_order_release);
    slot.key_high.store(known.key.high, std::memory_order_release);
    slot.call_path.store(known.call_path, std::memory_order_release);
    slot.version.store(version + 2, std::memory_order_release);
  }

 private:
  static constexpr size_t kSlots = 1 << 14;  // 16,384 x 64 bytes = 1 MiB
  struct alignas(64) Slot {                  // one cache line: nearly every look-up of a busy machine misses
    std::atomic<uint32_t> version{0};
    std::atomic<uint64_t> raw_low{0}, raw_high{0}, key_low{0}, key_high{0}, call_path{0};
  };
  std::array<Slot, kSlots> slots_{};
};

}  // namespace heaprec::sources
