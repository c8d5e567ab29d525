// How frames are laid out on the stack, and the register numbers of unwind tables.
#pragma once

#include <cstdint>

namespace heaprec::arch {

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

}  // namespace heaprec::arch
