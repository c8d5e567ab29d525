// Replaces mmap, munmap and mremap in all libraries while native memory is sampled. These calls are few and take
// microseconds, so each is recorded.
//
// Context:  SetMmapListener: setup or drain. AreMappingsQuiet, AbandonMmapListener: any. MappingImports: setup.
// Threads:  any number of threads map meanwhile, also in signal handlers. The hooks preserve errno, and use no lock, no
//           heap, and no thread-local memory that is allocated on first use. They stay installed, and call the
//           originals while there is no listener.
// Failure:  results are returned unchanged; a failed mmap or mremap is not a mapping. A munmap of whole pages that the
//           kernel refuses (it cannot split the mapping) counts as done. A call within a hook of the same thread (in a
//           signal handler) leads to OnUnknownState.
#pragma once

#include <cstdint>
#include <vector>

#include "recorder/native_sample/got_patcher.h"
#include "recorder/unwind/cfi_cache.h"

namespace heaprec::native {

// Determined by the protection and the flags of a call.
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
  // Called after mmap, and before its caller knows the address.
  virtual void OnMapped(const Mapping& mapping, const Registers& caller) = 0;
  // Called before munmap: until then no other call can get these addresses.
  virtual void OnUnmapping(uintptr_t begin, uintptr_t end) = 0;
  // The same for mremap. OnMoved then reports its result: the mapping is at `begin` to `end`, or unchanged if it
  // failed.
  virtual uint32_t OnMoving(uintptr_t begin, uintptr_t end) = 0;
  virtual void OnMoved(uint32_t moving, uintptr_t begin, uintptr_t end, const Registers& caller) = 0;
  // Called if a call has failed that may have unmapped something before.
  virtual void OnUnknownState() = 0;
};

// Sets the listener; null: none. Call it after InitForkGuard. The listener must exist until AreMappingsQuiet returns
// true after the next SetMmapListener.
void SetMmapListener(MmapListener* listener);
// Whether no thread is inside a listener that was removed.
bool AreMappingsQuiet();
// Removes the listener in a forked child.
void AbandonMmapListener();

std::vector<Import> MappingImports();

}  // namespace heaprec::native
