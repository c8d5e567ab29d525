// Differences of x86-64: calls, frames, counters, relocations.
#pragma once

#include <elf.h>

#include <atomic>
#include <bit>
#include <cstdint>

#define HEAPREC_INLINE inline __attribute__((always_inline))

namespace heaprec::arch {

// Where a call of malloc's family came from, determined in the function that replaces malloc.
//
// Such functions are compiled with -fomit-frame-pointer -ffixed-rbp, so they build no frame and the register still has
// their caller's. Passing it on costs nothing unless it is used.
//
// It has two words, so it is passed in registers.
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

// How frames are laid out on the stack, and the register numbers of unwind tables.
//
// Numbers of the frame pointer, the stack pointer and the return address in call frame information (System V ABI, AMD64
// supplement, figure 3.36).
inline constexpr uint64_t kDwarfFramePointer = 6, kDwarfStackPointer = 7, kDwarfReturnAddress = 16;
// A call pushes the return address just below the caller's stack pointer.
inline constexpr bool kCallPushesReturnAddress = true;

// HotSpot's frames: words from the frame pointer of an interpreted frame, and of the frame in which native code calls
// Java (cpu/x86/frame_x86.hpp).
inline constexpr int kInterpretedMethod = -3, kInterpretedBytecode = -8, kInterpretedSenderSp = -1;
// A callee's frame lies below the stack pointer of its caller.
inline constexpr bool kInterpretedFramesOverlap = false;
inline constexpr int kEntryWrapper = -6;

// Return addresses are not signed.
inline constexpr bool kSignsReturnAddresses = false;
inline uintptr_t WithoutSignature(uintptr_t return_address) { return return_address; }

// Adds `bytes` and one block to counters that only this thread writes. Each addition is one instruction, so a signal
// handler of the thread cannot interrupt it. It is not locked, which would cost five times as much.
inline void AddOwn(std::atomic<uint64_t>* of_bytes, std::atomic<uint64_t>* of_blocks, uint64_t bytes) {
  asm("addq %2, %0\n\taddq $1, %1" : "+m"(*of_bytes), "+m"(*of_blocks) : "r"(bytes) : "cc");
}

// Relocations by which the loader writes the address of a symbol into a word
// (System V ABI, AMD64 supplement, section 4.4).
inline constexpr uint32_t kRelocatedCall = R_X86_64_JUMP_SLOT, kRelocatedData = R_X86_64_GLOB_DAT,
                          kRelocatedWord = R_X86_64_64;

}  // namespace heaprec::arch

// The call of the enclosing function.
#define HEAPREC_CALL \
  heaprec::arch::Call { std::bit_cast<uintptr_t>(__builtin_dwarf_cfa()), heaprec::arch::CallersFrame() }

// Part of an assembly function that ends with a jump to another function: calls `function` first. The two arguments and
// the return address are preserved; the result is in rax.
#define HEAPREC_CALL_BEFORE(function) \
  "  pushq %rdi\n"                    \
  "  .cfi_adjust_cfa_offset 8\n"      \
  "  pushq %rsi\n"                    \
  "  .cfi_adjust_cfa_offset 8\n"      \
  "  subq $8, %rsp\n"                 \
  "  .cfi_adjust_cfa_offset 8\n"      \
  "  call " #function                 \
  "\n"                                \
  "  addq $8, %rsp\n"                 \
  "  .cfi_adjust_cfa_offset -8\n"     \
  "  popq %rsi\n"                     \
  "  .cfi_adjust_cfa_offset -8\n"     \
  "  popq %rdi\n"                     \
  "  .cfi_adjust_cfa_offset -8\n"
