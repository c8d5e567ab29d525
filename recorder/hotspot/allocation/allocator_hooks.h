// The second source of candidates: the vtables of HotSpot's allocators, whose `initialize` runs in every slow-path
// allocation. The thread's TLAB shows whether it was a refill or an object outside of TLABs, as AllocTracer would
// report.
//
// Context:  setup and drain: InstallAllocatorHooks, RemoveAllocatorHooks; serialised by the caller.
//           The entries are called in alloc, after the object is initialised: no JNI, no JVMTI.
// Threads:  any number of threads may allocate meanwhile.
// Failure:  an Error with the reason; the vtables are then unchanged. Until TrustAllocatorHooks only allocations of
//           `known_thread`, those of a self-test, are reported.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "recorder/hotspot/libjvm.h"
#include "recorder/hotspot/threads/thread_layout.h"

namespace heaprec::hotspot {

struct AllocationEntries {
  void (*on_refill)(void* java_thread, size_t object_bytes) = nullptr;
  void (*on_outside)(void* java_thread, size_t object_bytes) = nullptr;
};

// Idempotent. The arguments of the first successful call are used as long as the process lives.
Status InstallAllocatorHooks(const LibJvm& libjvm, const SymbolTable& symbols, const ThreadLayout& layout,
                             const void* known_thread, AllocationEntries entries);
Status RemoveAllocatorHooks();

// Call after the self-test on the known thread has passed. Its allocations have shown where an allocator stores thread
// and size; from now on this is used for all threads, as long as the process lives. Does nothing if the vtables are not
// used.
void TrustAllocatorHooks();

}  // namespace heaprec::hotspot
