// Differences of aarch64: calls, frames, counters, relocations.
#pragma once

#include <elf.h>

#include <atomic>
#include <bit>
#include <cstdint>

#define HEAPREC_INLINE inline __attribute__((always_inline))

namespace heaprec::arch {

// Where a call of malloc's family came from, determined in the function that replaces malloc.
//
// Such functions are compiled with -fomit-frame-pointer -ffixed-x29, so they build no frame and the register still has
// their caller's. Passing it on costs little unless it is used.
//
// The return address came in a register, so its position on the stack is unknown.
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

// How frames are laid out on the stack, and the register numbers of unwind tables.
//
// Numbers of the frame pointer, the stack pointer and the return address in call frame information (DWARF for the Arm
// 64-bit Architecture, section 4.1: x29, sp, x30).
inline constexpr uint64_t kDwarfFramePointer = 29, kDwarfStackPointer = 31, kDwarfReturnAddress = 30;
// A call leaves the return address in its register; the called function may save it anywhere.
inline constexpr bool kCallPushesReturnAddress = false;

// HotSpot's frames: words from the frame pointer of an interpreted frame, and of the frame in which native code calls
// Java (cpu/aarch64/frame_aarch64.hpp).
inline constexpr int kInterpretedMethod = -3, kInterpretedBytecode = -9, kInterpretedSenderSp = -1;
// The interpreter's stack pointer leaves room for all operands, and the frame of an interpreted callee lies in that
// room. So the caller's stack pointer may be below that frame.
inline constexpr bool kInterpretedFramesOverlap = true;
inline constexpr int kEntryWrapper = -8;

// A return address may have a signature in its upper bits (pointer authentication, -XX:UseBranchProtection=standard).
// XPACLRI strips it; cores without pointer authentication execute it as a NOP.
inline constexpr bool kSignsReturnAddresses = true;
inline uintptr_t WithoutSignature(uintptr_t return_address) {
  register uintptr_t link asm("x30") = return_address;
  asm("hint #7" : "+r"(link));
  return link;
}

// Adds `bytes` and one block to counters that only this thread writes. Its signal handler may interrupt this and add,
// too, so each addition is atomic: one instruction since ARMv8.1; before that a load and a store, and the store fails
// after a signal.
inline void AddOwn(std::atomic<uint64_t>* of_bytes, std::atomic<uint64_t>* of_blocks, uint64_t bytes) {
  of_bytes->fetch_add(bytes, std::memory_order_relaxed);
  of_blocks->fetch_add(1, std::memory_order_relaxed);
}

// Relocations by which the loader writes the address of a symbol into a word
// (ELF for the Arm 64-bit Architecture, section 5.7).
inline constexpr uint32_t kRelocatedCall = R_AARCH64_JUMP_SLOT, kRelocatedData = R_AARCH64_GLOB_DAT,
                          kRelocatedWord = R_AARCH64_ABS64;

}  // namespace heaprec::arch

// The call of the enclosing function.
#define HEAPREC_CALL                                                                \
  heaprec::arch::Call {                                                             \
    std::bit_cast<uintptr_t>(__builtin_dwarf_cfa()), heaprec::arch::CallersFrame(), \
        std::bit_cast<uintptr_t>(__builtin_return_address(0))                       \
  }

// Part of an assembly function that ends with a jump to another function: calls `function` first. The two arguments and
// the return address are preserved; the result is in x17.
#define HEAPREC_CALL_BEFORE(function) \
  "  stp x29, x30, [sp, #-32]!\n"     \
  "  .cfi_adjust_cfa_offset 32\n"     \
  "  .cfi_rel_offset x29, 0\n"        \
  "  .cfi_rel_offset x30, 8\n"        \
  "  mov x29, sp\n"                   \
  "  stp x0, x1, [sp, #16]\n"         \
  "  bl " #function                   \
  "\n"                                \
  "  mov x17, x0\n"                   \
  "  ldp x0, x1, [sp, #16]\n"         \
  "  ldp x29, x30, [sp], #32\n"       \
  "  .cfi_adjust_cfa_offset -32\n"    \
  "  .cfi_restore x29\n"              \
  "  .cfi_restore x30\n"
