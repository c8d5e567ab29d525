// Limits of what one sample may hold.
#pragma once

namespace heaprec::sources {

// 16 bytes a frame on the allocating thread's own stack: 16 KiB at most.
inline constexpr int kMaxStackDepth = 1024;

// Places: their number is 16 bits of a sample in the ring; 0 is none.
inline constexpr int kMostFollowed = 65'535;

}  // namespace heaprec::sources
