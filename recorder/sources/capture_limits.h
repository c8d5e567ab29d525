// Limits of what one sample may hold.
#pragma once

namespace heaprec::sources {

// 16 bytes a frame on the allocating thread's own stack: 16 KiB at most.
inline constexpr int kMaxStackDepth = 1024;

}  // namespace heaprec::sources
