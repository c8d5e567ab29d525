// Sparse memory, memory that may be unreadable, and a check whether this process is a forked child.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heaprec {

// Maps zeroed memory of which little will be used; null: no memory. Only touched pages become resident. With
// transparent huge pages enabled everywhere, one byte would otherwise cost 2 MiB and the time to clear them. Context:
// setup.
void* MapSparse(size_t bytes);
void UnmapSparse(void* memory, size_t bytes);

// Disables huge pages for existing memory; affects only the whole pages inside it.
void KeepSparse(void* memory, size_t bytes);

// Whether the 4 bytes at `address`, which may be any number, can be read. True only until they are unmapped. Context:
// any, one system call; errno is preserved.
bool IsReadable(uintptr_t address);

// Whether this is the recorded process and not a forked child, whichever call forked it. A child must not write memory
// that it shares with its parent, even after fork's handlers have run. InitForkGuard is idempotent, and runs in setup,
// on one thread; false: no memory.
bool InitForkGuard();

// Lies in a page that the kernel clears in a forked child.
extern std::atomic<bool>* is_this_process;
// Any context. Precondition: InitForkGuard has succeeded.
inline bool IsOriginalProcess() { return is_this_process->load(std::memory_order_relaxed); }

}  // namespace heaprec
