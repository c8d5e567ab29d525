// How frames lie on the stack, and what unwind tables call the registers.
#pragma once

#include <cstdint>

namespace heaprec::arch {

// Numbers of the frame pointer, the stack pointer and the return address in call frame information (System V ABI, AMD64
// supplement, figure 3.36).
inline constexpr uint64_t kDwarfFramePointer = 6, kDwarfStackPointer = 7, kDwarfReturnAddress = 16;

// HotSpot's frames: words from the frame pointer of an interpreted frame, and of the frame in which native code calls
// Java (cpu/x86/frame_x86.hpp).
inline constexpr int kInterpretedMethod = -3, kInterpretedBytecode = -8, kInterpretedSenderSp = -1;
inline constexpr int kEntryWrapper = -6;

}  // namespace heaprec::arch
