// What stands in the place of malloc's family, and of mmap's (mmap_hooks.h), in all libraries while native memory is
// sampled: a few nanoseconds a call, but for the calls in which a sample point lies, and the blocks that are tracked.
//
// Context:  MallocHooks: setup or drain; NewsOfLibraries: drain. PatchLibraries: a thread of its own. IsQuiet: any.
// Threads:  any number of threads allocate meanwhile. After the end threads may still be in the hooks, and come to them
//           through pointers that they kept: the hooks stay, and lead through.
// Failure:  Lead: an Error when there is no memory for the clocks, or nobody's calls can be led here, or another
//           recording has them. Where some libraries' cannot, the others' are, and `missing` tells.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "format/bytes/result.h"
#include "recorder/native_sample/got_patcher.h"
#include "recorder/native_sample/mmap_hooks.h"
#include "recorder/native_sample/sampled_blocks.h"
#include "recorder/native_sample/thread_clocks.h"
#include "recorder/unwind/cfi_cache.h"

namespace heaprec::native {

// Calls that the hooks never see: libc's own slots are left as they are, and a library's constructors run before its
// slots can be written.
inline constexpr char kNotSeen[] =
    "memory that libc allocates for its caller (asprintf, getline, fopen, opendir), constructors of libraries";

enum class Function : uint8_t { kMalloc, kCalloc, kRealloc, kMemalign, kStrdup };
const char* FunctionName(Function function);

// A block that its caller does not know yet.
struct Allocation {
  void* block;
  size_t size;
  Function function;
  Registers caller;
};

// Who samples. Its functions run inside malloc's family, in whatever state the thread is in: no heap, no lock, no I/O.
class AllocationListener {
 public:
  virtual ~AllocationListener() = default;
  // The thread's clock, with this block counted already, has come to its due. Sets the next one.
  virtual void OnDue(ThreadClock* clock, const Allocation& allocation) = 0;
};

// The calls of all libraries lead to the hooks as long as it lives; until Activate these lead through. There is one in
// the process.
class MallocHooks {
 public:
  static format::Result<std::unique_ptr<MallocHooks>> Install();
  // Nobody samples any more.
  ~MallocHooks();
  MallocHooks(const MallocHooks&) = delete;
  MallocHooks& operator=(const MallocHooks&) = delete;

  // `sampler` outlives the time from the end of this until IsQuiet, as does `mapper`: null for none.
  void Activate(AllocationListener* sampler, MmapListener* mapper = nullptr);
  // What could not be led here: whose calls, and why; empty: nothing. Of libraries that were there at once.
  const std::string& missing() const { return missing_; }

 private:
  MallocHooks() = default;

  bool has_them_ = false;
  std::string missing_;
};
struct LibraryNews {
  bool are_unpatched;  // some were loaded or have gone: PatchLibraries
  bool have_changed;   // since the last call others were patched, or have gone
};
LibraryNews NewsOfLibraries();
// Libraries that were loaded since. Waits for whoever loads just now: neither a recording nor the process's end may
// wait for this.
GotPatcher::Outcome PatchLibraries();
// Nobody is inside a sampler that is active no longer.
bool IsQuiet();
// While it is held no thread of ours has the loader's list. False: somebody has it.
bool HoldPatching(std::chrono::milliseconds patience);
void LetPatching();
// In a child of fork: nothing is sampled any more.
void AbandonHooks();

SampledBlocks& Blocks();

}  // namespace heaprec::native
