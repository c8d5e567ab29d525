// Where a call of malloc's family came from, determined in the function that replaces malloc.
//
// Such functions are compiled with -fomit-frame-pointer -ffixed-x29: they build no frame, and leave their caller's in
// its register. Passing it on costs little unless it is used.
#pragma once

#include <bit>
#include <cstdint>

#define HEAPREC_INLINE inline __attribute__((always_inline))

namespace heaprec::arch {

// The return address came in a register, so it has no known place on the stack.
struct Call {
  uintptr_t cfa;    // the caller's stack pointer
  uintptr_t frame;  // the caller's x29
  uintptr_t return_address;
  uintptr_t pc() const { return return_address; }
};

HEAPREC_INLINE uintptr_t CallersFrame() {
  uintptr_t frame = 0;
  asm volatile("mov %0, x29" : "=r"(frame));
  return frame;
}

}  // namespace heaprec::arch

// The call of the function that contains this.
#define HEAPREC_CALL                                                                \
  heaprec::arch::Call {                                                             \
    std::bit_cast<uintptr_t>(__builtin_dwarf_cfa()), heaprec::arch::CallersFrame(), \
        std::bit_cast<uintptr_t>(__builtin_return_address(0))                       \
  }
