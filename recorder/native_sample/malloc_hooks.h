// Replacements of malloc's family, and of mmap's (mmap_hooks.h), in all libraries while native memory is sampled. They
// add a few nanoseconds to a call, except for calls with a sample point, and for tracked blocks.
//
// Context:  MallocHooks: setup or drain; TakeLibraryChanges: drain. PatchLibraries: a thread of its own. IsQuiet: any.
// Threads:  any number of threads allocate meanwhile. After the end threads may still be in the hooks, or call them
//           through pointers that they kept: the hooks stay and pass calls on.
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

// Calls that the hooks never see: slots of libc and of other allocators are not changed, and a library's constructors
// run before its slots can be written.
inline constexpr char kNotSeen[] =
    "memory that libc allocates for its caller (asprintf, getline, fopen, opendir), constructors of libraries, calls "
    "through function pointers from before the recording, mappings that an allocator makes for its blocks";

enum class Function : uint8_t { kMalloc, kCalloc, kRealloc, kMemalign, kStrdup, kNew };
const char* FunctionName(Function function);

// A block that has not been returned to its caller yet.
struct Allocation {
  void* block;
  size_t size;
  Function function;
  Registers caller;
};

// Takes the samples. Its functions run inside malloc's family, in any state of the thread: no heap, no lock, no I/O.
class AllocationListener {
 public:
  virtual ~AllocationListener() = default;
  // The thread's clock, which includes this block, has reached a sample point. Sets the next one.
  virtual void OnDue(ThreadClock* clock, const Allocation& allocation) = 0;
};

// While it exists, the calls of all libraries go to the hooks; before Activate the hooks only pass them on. One
// per process.
class MallocHooks {
 public:
  static Result<std::unique_ptr<MallocHooks>> Install();
  // Stops the sampling.
  ~MallocHooks();
  MallocHooks(const MallocHooks&) = delete;
  MallocHooks& operator=(const MallocHooks&) = delete;

  // Both (null: no mmap_listener) must exist until IsQuiet after the end of this object.
  void Activate(AllocationListener* listener, MmapListener* mmap_listener = nullptr);
  // Libraries that could not be patched, and why, and allocators that are not seen, of those loaded at the start;
  // empty: none.
  const std::string& missing() const { return missing_; }

 private:
  MallocHooks() = default;

  bool is_installed_ = false;
  std::string missing_;
};
struct LibraryChanges {
  bool needs_patching;       // libraries were loaded or unloaded: call PatchLibraries
  bool patched_or_unloaded;  // since the last call: code addresses may belong to other libraries
};
// Returns what has changed since the last call.
LibraryChanges TakeLibraryChanges();
// Patches libraries that were loaded since. Waits while another thread loads one, so neither a recording nor the end of
// the process may wait for this.
GotPatcher::Outcome PatchLibraries();
// The number of allocators so far, other than the one whose functions are replaced, that were loaded, or found by dlsym
// for somebody: their calls are not seen.
uint32_t UnseenAllocators();
// Whether no thread is inside a listener that is no longer active.
bool IsQuiet();
// Between HoldPatching and ReleasePatching no thread of the recorder holds the loader's lock. Returns false if another
// thread is still patching after `patience`.
bool HoldPatching(std::chrono::milliseconds patience);
void ReleasePatching();
// In a child of fork: stops all sampling.
void AbandonHooks();

SampledBlocks& Blocks();

}  // namespace heaprec::native
