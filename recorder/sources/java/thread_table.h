// The byte clocks of the live threads: a fixed table, found through one initial-exec TLS word, no heap.
//
// Context:  Find, Acquire, Release: alloc (the thread itself). Total: drain.
// Threads:  an entry is written by its owner; its clock's counters are read by the drain.
// Failure:  Acquire returns nullptr if more than kCapacity threads are alive (LossReason::kThreadLimit).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "recorder/sources/java/outside_counts.h"
#include "throttle/byte_clock.h"

namespace heaprec::sources {

// An object whose delivery a hook of this thread has forced.
enum class Pending : uint8_t { kNothing, kRefill, kOutside };

struct alignas(128) ThreadEntry {
  // its counters never decrease, even when the entry gets another owner, so the drain's sums are monotonic
  throttle::ByteClock clock;
  // Written by the owner; read by the drain, at the end of a recording.
  std::atomic<void*> java_thread{nullptr};
  std::atomic<uint64_t> counted_to{0};  // value of the thread's byte counter up to which the clock has counted
  uint32_t os_tid = 0;
  uint32_t index = 0;                  // number of the entry; spreads threads over lanes
  std::atomic<uint32_t> recording{0};  // recording for which the clock was started: the state of an older one is stale
  Pending pending = Pending::kNothing;
  bool in_stack_chunk = false;  // the JVM is allocating a copy of a virtual thread's stack
  uint64_t stack_chunk_at = 0;  // the thread's byte counter before that
  // Like the clock's counters, these never decrease.
  std::atomic<uint64_t> stack_chunks{0}, stack_chunk_bytes{0};
  OutsideSlots outside;
  // source=jvmti: the probability per byte with which the JVM drew the pending threshold.
  throttle::ActiveWindow drawn;
  // CallbackSource: the thread's byte counter at its last reported object, and the value at which the next one is due.
  uint64_t given_at = 0, due = 0;
  const void* due_by = nullptr;  // the How from which `due` was drawn
};

// Lets the calling thread find its entry. Initial-exec, because the general model may call malloc on a thread's first
// access, inside an allocation.
struct OwnEntry {
  ThreadEntry* entry;
  const void* ended;  // a JavaThread of this OS thread that has reported ThreadEnd
};
[[gnu::tls_model("initial-exec")]] extern constinit thread_local OwnEntry own_entry;

struct Totals {
  uint64_t bytes = 0, candidates = 0;
  uint64_t stack_chunks = 0, stack_chunk_bytes = 0;
};

class ThreadTable {
 public:
  static constexpr uint32_t kCapacity = 1 << 15;  // entries; pages are touched as threads start

  static ThreadTable& Instance();  // one per process, because hooks have no other way to find it

  // Returns the calling thread's entry, or nullptr. Ignores an entry of another JavaThread (the OS thread was attached
  // again).
  ThreadEntry* Find(const void* java_thread) {
    ThreadEntry* entry = own_entry.entry;
    return entry != nullptr && entry->java_thread.load(std::memory_order_relaxed) == java_thread ? entry : nullptr;
  }
  // Returns a new entry for the calling thread, or nullptr.
  ThreadEntry* Acquire(void* java_thread);
  // Whether Release was called for the calling JavaThread: its last few objects come after ThreadEnd and have no entry.
  bool HasEnded(const void* java_thread) const;
  // Call when the JavaThread ends.
  void Release(void* java_thread);
  // Call when a JavaThread starts: its address may equal that of one that has ended on this OS thread.
  void Forget();

  Totals Total() const;
  // Calls visit(entry) for every entry that was ever used. visit may read only atomics.
  template <typename Visit>
  void ForEachEntry(const Visit& visit) const {
    const uint32_t count = high_water_.load(std::memory_order_relaxed);
    for (uint32_t i = 0; i < count; ++i) {
      if (constructed_[i].load(std::memory_order_acquire)) visit(entries_[i]);  // pairs with the release in Pop
    }
  }

  // Calls visit(entry) for every entry that has an owner. Entries may be taken and released meanwhile, so visit may
  // read only atomics. Values may belong to a later owner.
  template <typename Visit>
  void ForEachOwned(const Visit& visit) const {
    ForEachEntry([&visit](const ThreadEntry& entry) {
      // Pairs with the release in Acquire.
      if (entry.java_thread.load(std::memory_order_acquire) != nullptr) visit(entry);
    });
  }

 private:
  ThreadTable();
  ThreadEntry* Pop();
  void Push(ThreadEntry* entry);

  ThreadEntry* entries_ = nullptr;
  std::unique_ptr<std::atomic<uint32_t>[]> next_;     // free list: index of the next free entry + 1
  std::unique_ptr<std::atomic<bool>[]> constructed_;  // entries that other threads may read
  std::atomic<uint64_t> free_{0};                     // (tag << 32) | (index + 1): the tag prevents ABA errors
  std::atomic<uint32_t> high_water_{0};
};

}  // namespace heaprec::sources
