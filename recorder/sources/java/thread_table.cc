#include "recorder/sources/java/thread_table.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <new>

#include "base/memory.h"

namespace heaprec::sources {
[[gnu::tls_model("initial-exec")]] constinit thread_local OwnEntry own_entry{};

ThreadTable& ThreadTable::Instance() {
  static ThreadTable* const table = new ThreadTable;  // never destroyed: hooks may run until the process ends
  return *table;
}

ThreadTable::ThreadTable()
    : next_(new std::atomic<uint32_t>[kCapacity] {}), constructed_(new std::atomic<bool>[kCapacity] {}) {
  // Without memory every Acquire returns nullptr, which is counted.
  entries_ = static_cast<ThreadEntry*>(MapSparse(sizeof(ThreadEntry) * kCapacity));
}

ThreadEntry* ThreadTable::Acquire(void* java_thread) {
  if (own_entry.entry != nullptr)
    Push(own_entry.entry);  // another JavaThread of this OS thread, for which there was no ThreadEnd
  own_entry.entry = Pop();
  if (own_entry.entry == nullptr) return nullptr;
  own_entry.entry->os_tid = static_cast<uint32_t>(syscall(SYS_gettid));
  own_entry.entry->recording.store(0, std::memory_order_relaxed);
  own_entry.entry->pending = Pending::kNothing;
  // Stored last: a thread that sees the new owner sees no data of the previous one (pairs with the acquire in
  // ForEachOwned).
  own_entry.entry->java_thread.store(java_thread, std::memory_order_release);
  return own_entry.entry;
}

void ThreadTable::Release(void* java_thread) {
  own_entry.ended = java_thread;
  if (own_entry.entry == nullptr) return;
  Push(own_entry.entry);
  own_entry.entry = nullptr;
}

bool ThreadTable::HasEnded(const void* java_thread) const { return own_entry.ended == java_thread; }

void ThreadTable::Forget() { own_entry.ended = nullptr; }

Totals ThreadTable::Total() const {
  Totals totals;
  ForEachEntry([&totals](const ThreadEntry& entry) {
    totals.bytes += entry.clock.bytes();
    totals.candidates += entry.clock.candidates();
    totals.stack_chunks += entry.stack_chunks.load(std::memory_order_relaxed);
    totals.stack_chunk_bytes += entry.stack_chunk_bytes.load(std::memory_order_relaxed);
  });
  return totals;
}

ThreadEntry* ThreadTable::Pop() {
  if (entries_ == nullptr) return nullptr;
  uint64_t head = free_.load(std::memory_order_acquire);
  while (static_cast<uint32_t>(head) != 0) {
    const uint32_t index = static_cast<uint32_t>(head) - 1;
    const uint64_t tag = (head >> 32) + 1;
    const uint64_t after = (tag << 32) | next_[index].load(std::memory_order_relaxed);
    if (free_.compare_exchange_weak(head, after, std::memory_order_acq_rel)) return &entries_[index];
  }
  uint32_t index = high_water_.load(std::memory_order_relaxed);
  do {
    if (index >= kCapacity) return nullptr;
  } while (!high_water_.compare_exchange_weak(index, index + 1, std::memory_order_acq_rel));
  auto* entry = new (&entries_[index]) ThreadEntry;
  entry->index = index;
  constructed_[index].store(true, std::memory_order_release);  // pairs with the acquire in ForEachEntry
  return entry;
}

void ThreadTable::Push(ThreadEntry* entry) {
  entry->java_thread.store(nullptr, std::memory_order_relaxed);
  uint64_t head = free_.load(std::memory_order_acquire);
  uint64_t after = 0;
  do {
    next_[entry->index].store(static_cast<uint32_t>(head), std::memory_order_relaxed);
    after = (((head >> 32) + 1) << 32) | (entry->index + 1);
  } while (!free_.compare_exchange_weak(head, after, std::memory_order_acq_rel));
}

}  // namespace heaprec::sources
