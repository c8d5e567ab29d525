// The second way to the candidates: the vtables of HotSpot's allocators, whose `initialize` every slow-path allocation
// runs. Tells refills and objects outside of TLABs apart by the thread's TLAB, as AllocTracer would.
//
// Context:  setup and drain: InstallAllocatorHooks, RemoveAllocatorHooks; serialised by the caller.
//           The entries are called in alloc, after the object is initialised: no JNI, no JVMTI.
// Threads:  any number of threads may allocate meanwhile.
// Failure:  an Error with the reason; the vtables are then as they were. Until TrustAllocatorHooks allocations of
//           `known_thread` alone are reported: those of a self-test.
#pragma once

#include <cstddef>
#include <variant>

#include "format/bytes/result.h"
#include "recorder/hotspot/libjvm/libjvm.h"
#include "recorder/hotspot/libjvm/symbols.h"
#include "recorder/hotspot/threads/thread_layout.h"

namespace heaprec::hotspot {

struct AllocationEntries {
  void (*on_refill)(void* java_thread, size_t object_bytes) = nullptr;
  void (*on_outside)(void* java_thread, size_t object_bytes) = nullptr;
};

// Idempotent; the arguments of the first success hold for the life of the process.
format::Result<std::monostate> InstallAllocatorHooks(const LibJvm& libjvm, const SymbolTable& symbols,
                                                     const ThreadLayout& layout, const void* known_thread,
                                                     AllocationEntries entries);
format::Result<std::monostate> RemoveAllocatorHooks();

// A self-test on the known thread has passed: where its allocations showed that an allocator keeps thread and size is
// believed of all threads from now on, for the life of the process. Nothing if none took this way.
void TrustAllocatorHooks();

}  // namespace heaprec::hotspot
