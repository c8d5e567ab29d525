// Where a call of malloc's family came from, determined in the function that replaces malloc.
//
// Such functions are compiled with -fomit-frame-pointer -ffixed-rbp: they build no frame, and leave their caller's in
// its register. Passing it on costs nothing unless it is used.
#pragma once

#include <bit>
#include <cstdint>

#define HEAPREC_INLINE inline __attribute__((always_inline))

namespace heaprec::arch {

// Two words, so it is passed in registers.
struct Call {
  uintptr_t cfa;    // the caller's stack pointer once the call has returned
  uintptr_t frame;  // the caller's rbp
  uintptr_t pc() const { return std::bit_cast<const uintptr_t*>(cfa)[-1]; }
};

HEAPREC_INLINE uintptr_t CallersFrame() {
  uintptr_t frame = 0;
  asm volatile("movq %%rbp, %0" : "=r"(frame));
  return frame;
}

}  // namespace heaprec::arch

// The call of the function that contains this.
#define HEAPREC_CALL \
  heaprec::arch::Call { std::bit_cast<uintptr_t>(__builtin_dwarf_cfa()), heaprec::arch::CallersFrame() }
