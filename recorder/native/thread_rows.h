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
  struct Caller {
    uintptr_t pc = 0;
    // Null: it alone does not tell the site (a helper that allocates for its caller).
    format::NativeRow* row = nullptr;
    uint32_t site = kNoSite;
  };
  Caller& CallerAt(uintptr_t pc) { return callers_[(pc ^ pc >> 10) % kCallers]; }
  format::NativeRow* RowOf(uint32_t site) {
    format::NativeRow* const chunk = chunks_[site / format::kNativeChunkRows].load(std::memory_order_acquire);
    if (chunk == nullptr) [[unlikely]] {
      return NewRowOf(site);
    }
    return chunk + site % format::kNativeChunkRows;
  }
  // Of a row of one thread's own: a locked instruction is five times as dear.
  static void AddOwn(std::atomic<uint64_t>* of_bytes, std::atomic<uint64_t>* of_blocks, uint64_t bytes) {
    of_bytes->store(of_bytes->load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
    of_blocks->store(of_blocks->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

 private:
  static constexpr size_t kCallers = 1024;
  static constexpr uint32_t kChunks = format::kMostNativeSites / format::kNativeChunkRows;

  static ThreadRows* New(Table* table, bool is_common);
  void Add(std::atomic<uint64_t>* of_bytes, std::atomic<uint64_t>* of_blocks, uint64_t bytes) const {
    if (!is_common_) return AddOwn(of_bytes, of_blocks, bytes);
    of_bytes->fetch_add(bytes, std::memory_order_relaxed);
    of_blocks->fetch_add(1, std::memory_order_relaxed);
  }
  format::NativeRow* NewRowOf(uint32_t site);

  Table* table_ = nullptr;
  std::atomic<bool> is_leased_{false};
  bool is_common_ = false;
  std::atomic<format::NativeRow*> chunks_[kChunks] = {};
  Caller callers_[kCallers];
};

}  // namespace heaprec::native
