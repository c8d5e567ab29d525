// Maps a code key (MethodFrame::code_key) to what a recording calls it: the key of a method whose definition a lane
// already has, and the line.
//
// Direct-mapped, one seqlock per slot: bounded, never full; a miss only costs reading the method's names again.
//
// Context:  alloc. Readers and writers never wait: a slot being written counts as a miss.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

namespace heaprec::sources {

struct KnownFrame {
  uint64_t method = 0;
  int32_t line = -1;
  bool operator==(const KnownFrame&) const = default;
};

class FrameCache {
 public:
  // With the key of a definition committed in `epoch`; nullopt if there is none.
  std::optional<KnownFrame> Find(uint64_t code_key, uint32_t epoch) const {
    const Slot& slot = slots_[SlotOf(code_key)];
    const uint32_t before = slot.version.load(std::memory_order_acquire);
    // Acquire on each word (pairs with Store): who sees a word of a later writer also sees that the version has moved.
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

}  // namespace heaprec::sources
