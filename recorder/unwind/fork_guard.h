// Whether this is the recorded process, not a child of it, however it was forked. In a child, memory that it shares
// with its parent belongs to the parent, also after fork's handlers have run.
//
// Context:  InitForkGuard: setup, one thread. IsOriginalProcess: any, no call.
#pragma once

#include <atomic>

namespace heaprec::native {

// Idempotent. False: no memory.
bool InitForkGuard();

// In a page that is zero in a child of fork.
extern std::atomic<bool>* is_this_process;
// Call after InitForkGuard has succeeded.
inline bool IsOriginalProcess() { return is_this_process->load(std::memory_order_relaxed); }

}  // namespace heaprec::native
