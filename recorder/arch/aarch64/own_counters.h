// Counters that only one thread writes.
#pragma once

#include <atomic>
#include <cstdint>

namespace heaprec::arch {

// Adds `bytes` and one block. A signal handler of the same thread may interrupt this and add, too, so each addition is
// atomic: one instruction since ARMv8.1; before that a load and a store, and the store fails after a signal.
inline void AddOwn(std::atomic<uint64_t>* of_bytes, std::atomic<uint64_t>* of_blocks, uint64_t bytes) {
  of_bytes->fetch_add(bytes, std::memory_order_relaxed);
  of_blocks->fetch_add(1, std::memory_order_relaxed);
}

}  // namespace heaprec::arch
