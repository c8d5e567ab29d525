// How frames are laid out on the stack, and the register numbers of unwind tables.
#pragma once

#include <cstdint>

namespace heaprec::arch {

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

}  // namespace heaprec::arch
