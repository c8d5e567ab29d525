// What stands in the place of mmap, munmap and mremap in all libraries while native memory is sampled. These calls are
// few and cost microseconds: each is told.
//
// Context:  SetMmapListener: setup or drain. AreMappingsQuiet, AbandonMapper: any. MappingImports: setup.
// Threads:  any number of threads map meanwhile, in signal handlers too; the hooks keep errno, and take no lock, no
//           heap and no thread-local memory. They stay, and lead through when there is no mapper.
// Failure:  what a call answers is the caller's: a failed mmap or mremap is no mapping. A munmap of whole pages that
//           the kernel refuses (it has no room to cut a mapping in two) counts as done.
#pragma once

#include <cstdint>
#include <vector>

#include "recorder/native_sample/got_patcher.h"
#include "recorder/unwind/cfi_cache.h"

namespace heaprec::native {

// What the protection and the flags of a call ask for.
enum class MappingType : uint8_t {
  kReserve,  // nobody may touch it
  kPrivate,  // memory of the process' own
  kFile,     // its own view of a file
  kShared    // a file, or memory, that others may see
};

struct Mapping {
  uintptr_t begin, end;  // whole pages
  MappingType sort;
  bool replaces;  // MAP_FIXED: whatever was there is gone
};

// Who is told. Its functions run inside mmap's family, in whatever state the thread is in: no heap, no lock, no I/O.
class MmapListener {
 public:
  virtual ~MmapListener() = default;
  // After the call, and before its caller knows the address.
  virtual void OnMapped(const Mapping& mapping, const Registers& caller) = 0;
  // Before the call: until it is made nobody can be given the address.
  virtual void OnUnmapping(uintptr_t begin, uintptr_t end) = 0;
  // The same of mremap, whose answer is OnMoved's: at `begin` to `end` then, or where it was if it failed.
  virtual uint32_t OnMoving(uintptr_t begin, uintptr_t end) = 0;
  virtual void OnMoved(uint32_t moving, uintptr_t begin, uintptr_t end, const Registers& caller) = 0;
  // A call that failed may have unmapped something before it did.
  virtual void OnUnknownState() = 0;
};

// Null: nobody is told; else after InitForkGuard. `mapper` outlives the time until SetMmapListener and
// AreMappingsQuiet.
void SetMmapListener(MmapListener* mapper);
// Nobody is inside a mapper that was removed.
bool AreMappingsQuiet();
// In a child of fork.
void AbandonMapper();

std::vector<Import> MappingImports();

}  // namespace heaprec::native
