// What stands in the place of malloc's family, and of mmap's (mapping_hooks.h), in all libraries while native memory is
// sampled: a few nanoseconds a call, but for the calls in which a sample point lies, and the blocks that are followed.
//
// Context:  Install, Remove, Refresh: setup or drain, one thread at a time. IsQuiet: any.
// Threads:  any number of threads allocate meanwhile. After Remove threads may still be in the hooks, and come to them
//           through pointers that they kept: the hooks stay, and lead through.
// Failure:  Install: an Error when there is no memory for the clocks, or nobody's calls can be led here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "format/result.h"
#include "recorder/native/block_table.h"
#include "recorder/native/frame_rules.h"
#include "recorder/native/mapping_hooks.h"
#include "recorder/native/thread_clocks.h"

namespace heaprec::native {

enum class Function : uint8_t { kMalloc, kCalloc, kRealloc, kMemalign };
const char* FunctionName(Function function);

// A block that its caller does not know yet.
struct Allocation {
  void* block;
  size_t size;
  Function function;
  Registers caller;
};

// Who samples. Its functions run inside malloc's family, in whatever state the thread is in: no heap, no lock, no I/O.
class Sampler {
 public:
  virtual ~Sampler() = default;
  // The thread's clock, with this block counted already, has come to its due. Sets the next one.
  virtual void OnDue(ThreadClock* clock, const Allocation& allocation) = 0;
};

// Of the process. `sampler` outlives the time until Remove and IsQuiet, as does `mapper`: null for none.
format::Result<std::monostate> InstallHooks(Sampler* sampler, Mapper* mapper = nullptr);
// Libraries that were loaded since. True: there are others than before.
bool RefreshHooks();
void RemoveHooks();
// Nobody is inside a sampler that was removed.
bool IsQuiet();
// In a child of fork: nothing is sampled any more.
void AbandonHooks();

BlockTable& Blocks();

}  // namespace heaprec::native
