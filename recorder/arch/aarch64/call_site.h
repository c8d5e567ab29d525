// Where a call of malloc's family came from, told from within the function that stands in malloc's place.
//
// Such functions are compiled with -fomit-frame-pointer -ffixed-x29: they make no frame, and leave that of their caller
// in its register. What they hand on costs little before it is asked for.
#pragma once

#include <bit>
#include <cstdint>

#define HEAPREC_INLINE inline __attribute__((always_inline))

namespace heaprec::arch {

// The return address came in a register: it lies at no place that can be told from the others.
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

// Of the function in which it stands.
#define HEAPREC_CALL                                                                \
  heaprec::arch::Call {                                                             \
    std::bit_cast<uintptr_t>(__builtin_dwarf_cfa()), heaprec::arch::CallersFrame(), \
        std::bit_cast<uintptr_t>(__builtin_return_address(0))                       \
  }
