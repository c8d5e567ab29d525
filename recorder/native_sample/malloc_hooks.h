// Replaces malloc's family, and mmap's (mmap_hooks.h), in all libraries while native memory is sampled. The hooks add a
// few nanoseconds to a call, except for calls with a sample point, and for tracked blocks.
//
// Context:  MallocHooks: setup or drain; TakeLibraryChanges: drain. PatchLibraries: a separate thread. IsQuiet: any.
// Threads:  any number of threads allocate meanwhile. Afterwards threads may still be in the hooks, or call them
//           through stored pointers. So the hooks stay and call the originals.
// Failure:  Install: an Error if there is no memory for the clocks, no library that calls these functions can be
//           patched, or another recording has patched them. If only some libraries cannot be patched, the others are,
//           and `missing` names them. It is no error if no library calls them yet.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "recorder/native_sample/got_patcher.h"
#include "recorder/native_sample/mmap_hooks.h"
#include "recorder/native_sample/sampled_blocks.h"
#include "recorder/native_sample/thread_clocks.h"
#include "recorder/unwind/cfi_cache.h"

namespace heaprec::native {

// Calls that never reach the hooks: slots of libc and of other allocators are not changed, and a library's constructors
// run before its slots can be written.
inline constexpr char kNotSeen[] =
    "memory that libc allocates for its caller (asprintf, getline, fopen, opendir), constructors of libraries, calls "
    "through function pointers stored before the recording, mappings that an allocator makes for its blocks";

enum class Function : uint8_t { kMalloc, kCalloc, kRealloc, kMemalign, kStrdup, kNew };
const char* FunctionName(Function function);

// A block that has not been returned to its caller yet.
struct Allocation {
  void* block;
  size_t size;
  Function function;
  Registers caller;
};

// Receives the samples. Its functions run inside malloc's family, in any state of the thread: no heap, no lock, no I/O.
class AllocationListener {
 public:
  virtual ~AllocationListener() = default;
  // Called when the thread's clock, which includes this block, has reached a sample point. Sets the next point.
  virtual void OnDue(ThreadClock* clock, const Allocation& allocation) = 0;
};

// While it exists, the calls of all libraries go to the hooks. Before Activate the hooks only call the originals. One
// per process.
class MallocHooks {
 public:
  static Result<std::unique_ptr<MallocHooks>> Install();
  // Stops the sampling.
  ~MallocHooks();
  MallocHooks(const MallocHooks&) = delete;
  MallocHooks& operator=(const MallocHooks&) = delete;

  // Both listeners must exist until IsQuiet returns true after the end of this object. mmap_listener may be null.
  void Activate(AllocationListener* listener, MmapListener* mmap_listener = nullptr);
  // Which libraries loaded at the start could not be patched, why, and which allocators are not seen; empty: none.
  const std::string& missing() const { return missing_; }

 private:
  MallocHooks() = default;

  bool is_installed_ = false;
  std::string missing_;
};
struct LibraryChanges {
  bool needs_patching;       // libraries were loaded or unloaded: call PatchLibraries
  bool patched_or_unloaded;  // since the last call: code addresses may belong to other libraries now
};
// Returns what has changed since the last call.
LibraryChanges TakeLibraryChanges();
// Patches libraries that were loaded since. Waits while another thread loads one, so neither a recording nor the end of
// the process may wait for this.
GotPatcher::Outcome PatchLibraries();
// Number of allocators, other than the replaced one, that were loaded or returned by dlsym so far: their calls are not
// seen.
uint32_t UnseenAllocators();
// Whether no thread is inside a listener that is no longer active.
bool IsQuiet();
// Between HoldPatching and ReleasePatching no thread of the recorder holds the loader's lock. Returns false if another
// thread is still patching after `patience`.
bool HoldPatching(std::chrono::milliseconds patience);
void ReleasePatching();
// Stops all sampling in a forked child.
void AbandonHooks();

SampledBlocks& Blocks();

}  // namespace heaprec::native
