// Whether this is the process that is recorded, and not a child of it, however that was forked: behind fork's handlers,
// too, what it finds in memory that it shares with its parent is its parent's.
//
// Context:  InitForkGuard: setup, one thread. IsOriginalProcess: any, no call.
#pragma once

#include <atomic>

namespace heaprec::native {

// Idempotent. False: no memory.
bool InitForkGuard();

// In a page that is zero in a child of fork.
extern std::atomic<bool>* is_this_process;
// Of who knows.
inline bool IsOriginalProcess() { return is_this_process->load(std::memory_order_relaxed); }

}  // namespace heaprec::native
