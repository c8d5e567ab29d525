// Memory that is sparse, memory that may not be readable, and memory that tells a forked child from its parent.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heaprec {

// Zeroed memory of which little is used; null: there is none. Only pages that were touched become resident: where
// transparent huge pages are always on, one byte would otherwise cost 2 MiB, and the time to clear them. Context:
// setup.
void* MapSparse(size_t bytes);
void UnmapSparse(void* memory, size_t bytes);

// Disables huge pages for memory that exists; affects only whole pages inside it.
void KeepSparse(void* memory, size_t bytes);

// Whether the 4 bytes around any `address` can be read; holds until they are unmapped. Context: any, one system call;
// errno is preserved.
bool IsReadable(uintptr_t address);

// Whether this is the recorded process, not a child of it, however it was forked. In a child, memory that it shares
// with its parent belongs to the parent, also after fork's handlers have run.
// InitForkGuard is idempotent, and runs in setup, on one thread; false: no memory.
bool InitForkGuard();

// In a page that is zero in a child of fork.
extern std::atomic<bool>* is_this_process;
// Any context. Precondition: InitForkGuard has succeeded.
inline bool IsOriginalProcess() { return is_this_process->load(std::memory_order_relaxed); }

}  // namespace heaprec
