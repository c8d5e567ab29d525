// Counts blocks by call site for the thread that allocates or frees them. The fast path is in this header, and is
// inlined into malloc and free; the source file has the code that runs once per thread or site.
//
// Context:  inside malloc and free: no heap; errno is preserved.
// Threads:  any number.
#pragma once

#include <errno.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "recorder/arch/machine.h"
#include "recorder/native_count/block_header.h"
#include "recorder/native_count/site_table.h"

namespace heaprec::native {

using arch::Call;

// Null before the start, if nothing is recorded, and in a child process.
extern std::atomic<SiteTable*> table;
// Returns `table`, or null in a child process. If fork's handlers have not run in the child (clone by system call),
// this stops its counting. The fast paths read `table` directly: in a child they find no row, because the thread's rows
// are zeros.
SiteTable* TableOfProcess();

// Contains no callers and no rows, so that a thread that uses it takes the slow path.
extern ThreadRows empty_rows __attribute__((visibility("hidden")));

struct ThreadState {
  // &empty_rows: the thread is not set up yet, has ended, or is inside our own code, which may allocate.
  ThreadRows* rows = &empty_rows;
  bool is_inside = false, has_none = false;
  bool HasRows() const { return rows != &empty_rows; }
};
extern constinit thread_local ThreadState thread_state __attribute__((tls_model("initial-exec"), visibility("hidden")));

// During its lifetime, allocations of this thread are our own and get no site.
class ReentrancyGuard {
 public:
  ReentrancyGuard() : rows_(thread_state.rows) {
    thread_state.rows = &empty_rows;
    thread_state.is_inside = true;
  }
  ~ReentrancyGuard() {
    thread_state.is_inside = false;
    thread_state.rows = rows_;
    errno = error_;
  }
  ReentrancyGuard(const ReentrancyGuard&) = delete;
  ReentrancyGuard& operator=(const ReentrancyGuard&) = delete;

 private:
  ThreadRows* const rows_;
  const int error_ = errno;
};

// `depth`: number of frames that identify a site. `check`: blocks are followed by kCanaryBytes, and all take the slow
// path. Returns false if nothing can be counted, because the end of threads or a fork could not be noticed.
bool PrepareCounting(uint32_t depth, bool check);

// Returns the thread's rows. Returns the common rows inside our own code, at the thread's end, and if there are no
// others; null: no memory.
ThreadRows* Rows(SiteTable* of);

// Works for any block and thread. `may_check`: the program may write exactly `size` bytes.
void* CountAllocationSlow(void* base, size_t offset, size_t size, Call call, bool may_check = true);
void CountFreeSlow(const Header& header);

// Call after dlclose.
void ForgetUnloaded();
// Call in a forked child: stops counting.
void StopInChild();

// Makes memory from the next allocator, which may be null, a counted block. `size`: less than HeaderWord::kLarge.
HEAPREC_INLINE void* Counted(void* base, size_t size) {
  const auto pc = std::bit_cast<uintptr_t>(__builtin_return_address(0));
  const ThreadRows::Caller& known = thread_state.rows->CallerAt(pc);
  if (known.pc == pc) [[likely]] {
    if (base != nullptr) [[likely]] {
      arch::AddOwn(&known.row->allocated_bytes, &known.row->allocated_blocks, size);
      void* const block = static_cast<std::byte*>(base) + kHeaderBytes;
      *WordAt(block) = HeaderWord::Compact(block, known.seal, size).value();
      return block;
    }
  }
  return CountAllocationSlow(base, kHeaderBytes, size, HEAPREC_CALL);
}

// Returns true for most blocks: the block is now marked as freed. False: nothing has changed.
HEAPREC_INLINE bool DiscountQuickly(void* block) {
  const HeaderWord word(*WordAt(block));
  if (!word.IsCompactFor(block)) [[unlikely]] {
    return false;
  }
  format::NativeSiteCounters* const row = thread_state.rows->KnownRowOf(word.Site());
  if (row == nullptr) [[unlikely]] {
    return false;
  }
  Unmark(block);
  arch::AddOwn(&row->freed_bytes, &row->freed_blocks, word.Size());
  return true;
}

}  // namespace heaprec::native
