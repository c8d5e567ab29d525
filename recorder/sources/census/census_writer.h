// Adds the results of walks to the sums in the ring.
//
// Context:  alloc or gc: no heap, no lock.
// Threads:  any.
// Failure:  none: without a free row, counts go to a row for all threads, or for all classes
//           (format/ring/census_pages.h).
// Format:   docs/format/ring.md#census
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "format/ring/census_pages.h"
#include "recorder/buffer/lane_lease.h"
#include "recorder/buffer/ring.h"
#include "throttle/random.h"

namespace heaprec::sources {

// The key equals that of samples without labels.
struct CensusThread {
  static constexpr size_t kMaxNameBytes = 216;
  uint64_t key = 0;
  uint64_t java_tid = 0;
  uint32_t os_tid = 0;
  uint32_t name_bytes = 0;
  char name[kMaxNameBytes] = {};
  std::string_view Name() const { return {name, name_bytes}; }
};

// Names and ids of threads, for hooks that must not call the JVM: a collector retires the TLABs of other threads.
//
// A thread is added when it starts, or when a census begins, under the address of its JavaThread. It stays until
// another thread starts at that address or needs the slot, because its last TLAB is retired after it has ended.
//
// Context:  Put, Forget: alloc, inside a JVMTI callback, or setup. Find: alloc or gc, no heap.
// Threads:  any. Find does not wait; it finds nothing while the entry is being written.
// Failure:  none: a thread without a slot has no name.
class CensusThreads {
 public:
  CensusThreads();

  void Put(const void* java_thread, uint64_t java_tid, uint32_t os_tid, std::string_view name);
  // The thread has ended: its entry may be reused.
  void Forget(const void* java_thread);
  bool Find(const void* java_thread, CensusThread* into) const;

 private:
  static constexpr size_t kSlots = 1 << 13, kMaxProbes = 64;
  // The version is odd while the entry is written.
  struct alignas(64) Slot {
    std::atomic<const void*> java_thread{nullptr};
    std::atomic<uint32_t> version{0};
    std::atomic<bool> has_ended{false};
    CensusThread thread;
  };
  Slot* Look(const void* java_thread) const;
  Slot* SlotFor(const void* java_thread);

  std::unique_ptr<Slot[], void (*)(Slot*)> slots_;
  std::atomic_flag writing_;
};

// Objects and bytes by class, for one walk: 30 KiB on the stack, no heap.
class ClassCounts {
 public:
  static constexpr size_t kMaxClasses = 1024;

  struct Entry {
    uint64_t klass;  // the class' address
    uint64_t objects, bytes;
  };

  // Returns false if there is no space for another class.
  bool Add(const void* klass, uint64_t bytes) {
    if (count_ == 0 || entries_[last_].klass != Address(klass)) {
      if (!Find(klass)) return false;
    }
    ++entries_[last_].objects;
    entries_[last_].bytes += bytes;
    return true;
  }
  void Clear() {
    slots_.fill(0);
    count_ = 0;
  }
  std::span<const Entry> entries() const { return {entries_.data(), count_}; }

 private:
  static constexpr size_t kSlots = 2 * kMaxClasses;

  static uint64_t Address(const void* klass) { return reinterpret_cast<uintptr_t>(klass); }

  // Sets last_.
  bool Find(const void* klass) {
    size_t slot = throttle::Mix64(Address(klass)) % kSlots;
    for (; slots_[slot] != 0; slot = (slot + 1) % kSlots) {
      last_ = slots_[slot] - size_t{1};
      if (entries_[last_].klass == Address(klass)) return true;
    }
    if (count_ == kMaxClasses) return false;
    entries_[count_] = {Address(klass), 0, 0};
    last_ = count_++;
    slots_[slot] = static_cast<uint16_t>(count_);
    return true;
  }

  std::array<uint16_t, kSlots> slots_{};  // index of the entry + 1
  size_t count_ = 0, last_ = 0;
  std::array<Entry, kMaxClasses> entries_;  // NOLINT(cppcoreguidelines-pro-type-member-init): count_ are in use
};

class CensusWriter {
 public:
  using NameOf = std::function<std::string_view(const void* klass)>;  // returns an empty name if the class has none

  // The ring, which must have census pages, and the threads must outlive this.
  CensusWriter(buffer::Ring& ring, const CensusThreads& threads, NameOf name_of)
      : pages_(*ring.census()),
        start_ns_(ring.header().start_monotonic_ns),
        threads_(threads),
        name_of_(std::move(name_of)) {}

  // Adds the results of one walk.
  void Write(uint64_t now_ns, const void* java_thread, double weight, std::span<const ClassCounts::Entry> found);

 private:
  struct RowKey {
    uint64_t second;
    const CensusThread* thread;   // null: unknown
    uint64_t class_key;           // kAllClasses: the total
    std::string_view class_name;  // empty: unknown, or all classes
  };
  format::RingCensusRow& RowOf(const RowKey& key, format::RingCensusPage* page);
  void Name(const RowKey& row, format::RingCensusPage* page);

  format::RingCensusPages& pages_;
  const uint64_t start_ns_;
  const CensusThreads& threads_;
  const NameOf name_of_;
  buffer::EmittedDefinitions<1 << 12> known_;  // names on the page, by the page's number
};

}  // namespace heaprec::sources
