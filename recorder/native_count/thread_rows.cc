#include "recorder/native_count/thread_rows.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>

namespace heaprec::native {
namespace {

constexpr size_t kMaxThreads = 4096;

std::atomic<ThreadRows*> all[kMaxThreads];
std::atomic<ThreadRows*> common{nullptr};

}  // namespace

ThreadRows* ThreadRows::New(SiteTable* table, bool is_common) {
  void* const memory = mmap(nullptr, sizeof(ThreadRows), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  (void)madvise(memory, sizeof(ThreadRows), MADV_WIPEONFORK);  // before Linux 4.14: only fork's handlers
  auto* const rows = new (memory) ThreadRows;
  rows->table_ = table;
  rows->is_common_ = is_common;
  rows->is_leased_.store(true, std::memory_order_relaxed);
  return rows;
}

ThreadRows* ThreadRows::Lease(SiteTable* table) {
  for (std::atomic<ThreadRows*>& slot : all) {
    ThreadRows* rows = slot.load(std::memory_order_acquire);
    if (rows == nullptr) {
      ThreadRows* const mine = New(table, /*is_common=*/false);
      if (mine == nullptr) break;
      if (slot.compare_exchange_strong(rows, mine, std::memory_order_acq_rel)) return mine;
      munmap(mine, sizeof(ThreadRows));
    }
    // Acquire: the sums of the thread before (pairs with the release in Return).
    bool is_leased = false;
    if (rows->is_leased_.compare_exchange_strong(is_leased, true, std::memory_order_acquire)) return rows;
  }
  return Common(table);
}

ThreadRows* ThreadRows::FallbackRows() const {
  ThreadRows* const rows = is_common_ ? nullptr : Common(table_);
  if (rows == nullptr) table_->header().without_shard.fetch_add(1, std::memory_order_relaxed);
  return rows;
}

ThreadRows* ThreadRows::Common(SiteTable* table) {
  ThreadRows* rows = common.load(std::memory_order_acquire);
  if (rows != nullptr) return rows;
  ThreadRows* const mine = New(table, /*is_common=*/true);
  if (mine == nullptr) return nullptr;
  if (common.compare_exchange_strong(rows, mine, std::memory_order_acq_rel)) return mine;
  munmap(mine, sizeof(ThreadRows));
  return rows;
}

// A thread may be writing another address into the same entry: then that caller is looked up once more.
void ThreadRows::ForgetCallers(uintptr_t begin, uintptr_t end) {
  const auto forget = [=](ThreadRows* rows) {
    if (rows == nullptr) return;
    for (Caller& caller : rows->callers_) {
      const std::atomic_ref pc(caller.pc);
      const uintptr_t known = pc.load(std::memory_order_relaxed);
      // An AmbiguousPc entry does not show where its call is, so it is cleared too.
      if ((begin <= known && known < end) || known > INT64_MAX) pc.store(0, std::memory_order_relaxed);
    }
  };
  for (const std::atomic<ThreadRows*>& slot : all) forget(slot.load(std::memory_order_acquire));
  forget(common.load(std::memory_order_acquire));
}

format::NativeSiteCounters* ThreadRows::ChunkOf(uint32_t number) {
  format::NativeSiteCounters* chunk = chunks_[number].load(std::memory_order_acquire);
  if (chunk != nullptr) return chunk;
  const uint32_t first_site = number * format::kNativeShardSites;
  if (is_common_) {
    chunk = table_->CommonChunk(first_site);
  } else if (calls_left_ > 0) {
    --calls_left_;
    return nullptr;
  } else {
    chunk = table_->NewChunk(first_site, static_cast<uint32_t>(syscall(SYS_gettid)));
    calls_left_ = pause_ = chunk != nullptr ? 0 : std::clamp(2 * pause_, 1U, kMaxPause);
  }
  chunks_[number].store(chunk, std::memory_order_release);
  return chunk;
}

format::NativeSiteCounters* ThreadRows::NewRowOf(uint32_t site) {
  format::NativeSiteCounters* const chunk = ChunkOf(site / format::kNativeShardSites);
  if (chunk == nullptr) return nullptr;
  format::NativeSiteCounters* const row = chunk + site % format::kNativeShardSites;
  rows_[site].store(row, std::memory_order_release);
  return row;
}

}  // namespace heaprec::native
