// Limits for one sample.
#pragma once

namespace heaprec::sources {

// Maximum depth of walks and of requests to JVMTI; StackBufferPool provides the memory.
inline constexpr int kMaxStackDepth = 1024;

// Maximum number of entries: a tracking index has 16 bits in the ring, and 0 means none.
inline constexpr int kMaxTracked = 65'535;

}  // namespace heaprec::sources
