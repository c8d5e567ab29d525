// Counters that only one thread writes.
#pragma once

#include <atomic>
#include <cstdint>

namespace heaprec::arch {

// Adds `bytes` and one block. Each addition is one instruction, so a signal handler of the thread cannot interrupt it.
// It is not locked, which would cost five times as much.
inline void AddOwn(std::atomic<uint64_t>* of_bytes, std::atomic<uint64_t>* of_blocks, uint64_t bytes) {
  asm("addq %2, %0\n\taddq $1, %1" : "+m"(*of_bytes), "+m"(*of_blocks) : "r"(bytes) : "cc");
}

}  // namespace heaprec::arch
