// Limits of what one sample may hold.
#pragma once

namespace heaprec::sources {

// What walks and JVMTI are asked for; StackBufferPool has the memory.
inline constexpr int kMaxStackDepth = 1024;

// Places: their number is 16 bits of a sample in the ring; 0 is none.
inline constexpr int kMaxTracked = 65'535;

}  // namespace heaprec::sources
