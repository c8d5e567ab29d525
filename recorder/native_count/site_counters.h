// Counts blocks for the thread that allocates or frees them, by the site of the call. What happens each time is here,
// to be inlined into malloc and free; what happens once for each thread or site is not.
//
// Context:  inside of malloc and free: no heap; errno is kept.
// Threads:  any number.
#pragma once

#include <errno.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "recorder/arch/call_site.h"
#include "recorder/native_count/block_header.h"
#include "recorder/native_count/site_table.h"
#include "recorder/native_count/thread_rows.h"

namespace heaprec::native {

using arch::Call;

// Null before the start, and where nothing is to be recorded.
extern std::atomic<SiteTable*> table;

// Without a caller or a row: whoever has it finds nothing in it, and goes the slow way.
extern ThreadRows empty_rows __attribute__((visibility("hidden")));

struct ThreadState {
  // Nobody's: none yet, none any more, or not now: what we call ourselves may allocate.
  ThreadRows* rows = &empty_rows;
  bool is_inside = false, has_none = false;
  bool HasRows() const { return rows != &empty_rows; }
};
extern constinit thread_local ThreadState thread_state __attribute__((tls_model("initial-exec"), visibility("hidden")));

// What is called in its life is ours: what it allocates has no site.
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

// `depth`: frames that tell two sites apart. `check`: blocks have kCanaryBytes of room behind them, and all of them go
// the slow way. False: threads cannot be told when they end, so nothing can be counted.
bool PrepareCounting(uint32_t depth, bool check);

// A thread's own rows; the common ones inside of ourselves, at its end, and where there are no others; null: no memory.
ThreadRows* Rows(SiteTable* of);

// Any block, any thread. `may_check`: the program may write `size` bytes, and no more.
void* CountAllocationSlow(void* base, size_t offset, size_t size, Call call, bool may_check = true);
void CountFreeSlow(const Header& header);

// After dlclose.
void ForgetUnloaded();

// Makes a block of what an allocator has given, which may be null. `size`: less than HeaderWord::kLarge.
HEAPREC_INLINE void* Counted(void* base, size_t size) {
  const auto pc = std::bit_cast<uintptr_t>(__builtin_return_address(0));
  const ThreadRows::Caller& known = thread_state.rows->CallerAt(pc);
  if (known.pc == pc) [[likely]] {
    if (base != nullptr) [[likely]] {
      arch::AddOwn(&known.row->allocated_bytes, &known.row->allocated_blocks, size);
      void* const block = static_cast<std::byte*>(base) + kHeaderBytes;
      *WordAt(block) = HeaderWord::Plain(block, known.seal, size).value();
      return block;
    }
  }
  return CountAllocationSlow(base, kHeaderBytes, size, HEAPREC_CALL);
}

// Of most blocks: true, and it is nobody's any more. False: nothing is done.
HEAPREC_INLINE bool DiscountQuickly(void* block) {
  const HeaderWord word(*WordAt(block));
  if (!word.IsPlainOf(block)) [[unlikely]] {
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
