// The sums of one thread, and the call sites that it has met.
//
// Context:  within malloc and free: no heap; mmap where a thread or a site is new.
// Threads:  a lease is its thread's; a thread that ends gives its rows to the next one, sums and all. Those of
//           Common() are anybody's, with locked instructions.
// Failure:  Lease answers Common() when there are no more; calls whose site has no chunk are counted by the table.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "recorder/native/table.h"

namespace heaprec::native {

class ThreadRows {
 public:
  static ThreadRows* Lease(Table* table);
  // For calls inside of calls, threads that end, and when no other is left.
  static ThreadRows* Common(Table* table);
  void Return() { is_leased_.store(is_common_, std::memory_order_release); }

  void Allocated(uint32_t site, uint64_t bytes) {
    if (format::NativeRow* const row = RowOf(site)) Add(&row->allocated_bytes, &row->allocated_blocks, bytes);
  }
  void Freed(uint32_t site, uint64_t bytes) {
    if (format::NativeRow* const row = RowOf(site)) Add(&row->freed_bytes, &row->freed_blocks, bytes);
  }

  // What a return address of a call of malloc says of the site.
  struct alignas(32) Caller {
    // NotAlone of it: it does not tell the site (a helper that allocates for its caller).
    uintptr_t pc = 0;
    format::NativeRow* row = nullptr;
    uint32_t site = kNoSite;
    uint32_t seal = 0;  // Word::SealOf(site)
  };
  // No address of code.
  static uint64_t NotAlone(uint64_t pc) { return ~(pc & INT64_MAX); }
  Caller& CallerAt(uintptr_t pc) { return callers_[pc % kCallers]; }
  format::NativeRow* RowOf(uint32_t site) {
    format::NativeRow* const chunk = chunks_[site / format::kNativeChunkRows].load(std::memory_order_acquire);
    if (chunk == nullptr) [[unlikely]] {
      return NewRowOf(site);
    }
    return chunk + site % format::kNativeChunkRows;
  }
  // Null: RowOf has to make it.
  format::NativeRow* KnownRowOf(uint32_t site) {
    format::NativeRow* const chunk = chunks_[site / format::kNativeChunkRows].load(std::memory_order_relaxed);
    return chunk != nullptr ? chunk + site % format::kNativeChunkRows : nullptr;
  }
  // Of a row of one thread's own: one instruction each, so that a signal handler of the thread cannot come between, and
  // not locked, which is five times as dear.
  static void AddOwn(std::atomic<uint64_t>* of_bytes, std::atomic<uint64_t>* of_blocks, uint64_t bytes) {
    asm("addq %2, %0\n\taddq $1, %1" : "+m"(*of_bytes), "+m"(*of_blocks) : "r"(bytes) : "cc");
  }

 private:
  static constexpr size_t kCallers = 2048;
  static constexpr uint32_t kChunks = format::kMostNativeSites / format::kNativeChunkRows;

  static ThreadRows* New(Table* table, bool is_common);
  void Add(std::atomic<uint64_t>* of_bytes, std::atomic<uint64_t>* of_blocks, uint64_t bytes) const {
    if (!is_common_) return AddOwn(of_bytes, of_blocks, bytes);
    of_bytes->fetch_add(bytes, std::memory_order_relaxed);
    of_blocks->fetch_add(1, std::memory_order_relaxed);
  }
  format::NativeRow* NewRowOf(uint32_t site);

  std::atomic<format::NativeRow*> chunks_[kChunks] = {};
  Table* table_ = nullptr;
  std::atomic<bool> is_leased_{false};
  bool is_common_ = false;
  Caller callers_[kCallers];
};

}  // namespace heaprec::native
