// Replacements of mmap, munmap and mremap in all libraries while native memory is sampled. These calls are few and take
// microseconds, so each is recorded.
//
// Context:  SetMmapListener: setup or drain. AreMappingsQuiet, AbandonMmapListener: any. MappingImports: setup.
// Threads:  any number of threads map meanwhile, also in signal handlers. The hooks keep errno, and use no lock, no
//           heap, and no thread-local memory that is allocated when it is first used. They stay installed, and pass
//           calls on while there is no listener.
// Failure:  results are passed on: a failed mmap or mremap is not a mapping. A munmap of whole pages that the kernel
//           refuses (it has no room to split a mapping) counts as done. A call within a hook of the same thread (in a
//           signal handler) is OnUnknownState.
#pragma once

#include <cstdint>
#include <vector>

#include "recorder/native_sample/got_patcher.h"
#include "recorder/unwind/cfi_cache.h"

namespace heaprec::native {

// By the protection and the flags of a call.
enum class MappingType : uint8_t {
  kReserve,  // not accessible
  kPrivate,  // private memory
  kFile,     // a private mapping of a file
  kShared    // a shared file or shared memory
};

struct Mapping {
  uintptr_t begin, end;  // whole pages
  MappingType sort;
  bool replaces;  // MAP_FIXED: replaces existing mappings
};

// Receives the calls. Its functions run inside mmap's family, in any state of the thread: no heap, no lock, no I/O.
class MmapListener {
 public:
  virtual ~MmapListener() = default;
  // After the call, and before its caller knows the address.
  virtual void OnMapped(const Mapping& mapping, const Registers& caller) = 0;
  // Before the call: until then no other call can get these addresses.
  virtual void OnUnmapping(uintptr_t begin, uintptr_t end) = 0;
  // The same for mremap; OnMoved has its result: the mapping is then at `begin` to `end`, or unchanged if it failed.
  virtual uint32_t OnMoving(uintptr_t begin, uintptr_t end) = 0;
  virtual void OnMoved(uint32_t moving, uintptr_t begin, uintptr_t end, const Registers& caller) = 0;
  // A failed call may have unmapped something before it failed.
  virtual void OnUnknownState() = 0;
};

// Null: no listener. Otherwise call it after InitForkGuard; the listener must exist until the next SetMmapListener and
// AreMappingsQuiet.
void SetMmapListener(MmapListener* listener);
// Whether no thread is inside a listener that was removed.
bool AreMappingsQuiet();
// In a child of fork.
void AbandonMmapListener();

std::vector<Import> MappingImports();

}  // namespace heaprec::native
