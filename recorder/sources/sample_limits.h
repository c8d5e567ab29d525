// Limits of what one sample may hold.
#pragma once

namespace heaprec::sources {

// Maximum depth of walks and of requests to JVMTI; StackBufferPool has the memory.
inline constexpr int kMaxStackDepth = 1024;

// Entries: a tracking index has 16 bits in a sample of the ring, and 0 is none.
inline constexpr int kMaxTracked = 65'535;

}  // namespace heaprec::sources
