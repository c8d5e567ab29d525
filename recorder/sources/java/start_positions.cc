#include "recorder/sources/java/start_positions.h"

#include <algorithm>
#include <bit>
#include <new>

#include "throttle/random.h"

namespace heaprec::sources {

void StartPositions::Reserve(size_t threads) {
  constexpr size_t kLeast = 64;
  const size_t capacity = std::bit_ceil(std::max(kLeast, 2 * threads));
  slots_.reset(new (std::nothrow) Position[capacity]);
  capacity_ = slots_ != nullptr ? capacity : 0;
  count_ = 0;
}

void StartPositions::Add(void* java_thread, uint64_t allocated, double e) {
  if (2 * count_ >= capacity_) return;
  ++count_;
  size_t at = throttle::Mix64(reinterpret_cast<uintptr_t>(java_thread)) & (capacity_ - 1);
  while (slots_[at].java_thread.load(std::memory_order_relaxed) != nullptr) at = (at + 1) & (capacity_ - 1);
  slots_[at].allocated = allocated;
  slots_[at].e = e;
  slots_[at].java_thread.store(java_thread, std::memory_order_relaxed);
}

void StartPositions::Seal(throttle::ActiveWindow with, bool complete) {
  armed_with_ = with;
  complete_ = complete && slots_ != nullptr;
}

const StartPositions::Position* StartPositions::Take(const void* java_thread) {
  if (capacity_ == 0) return nullptr;
  size_t at = throttle::Mix64(reinterpret_cast<uintptr_t>(java_thread)) & (capacity_ - 1);
  for (;; at = (at + 1) & (capacity_ - 1)) {
    Position& slot = slots_[at];
    const void* const owner = slot.java_thread.load(std::memory_order_relaxed);
    if (owner == nullptr) return nullptr;
    if (owner == java_thread) return slot.taken.exchange(true, std::memory_order_relaxed) ? nullptr : &slot;
  }
}

}  // namespace heaprec::sources
