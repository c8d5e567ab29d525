// The threads' names and ids, for hooks that must not ask the JVM: a collector retires the TLABs of other threads.
//
// A thread is added when it starts, or when a census begins, under the address of its JavaThread. It stays until
// another thread starts at that address, or needs the room, because its last TLAB is retired after it has ended.
//
// Context:  Put, Forget: alloc, inside a JVMTI callback, or setup. Find: alloc or gc, no heap.
// Threads:  any. Find does not wait; it finds nothing while the entry is being written.
// Failure:  none: a thread without room has no name.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace heaprec::sources {

// As in samples, without labels: the same thread is the same entry.
struct CensusThread {
  static constexpr size_t kMaxNameBytes = 216;
  uint64_t key = 0;
  uint64_t java_tid = 0;
  uint32_t os_tid = 0;
  uint32_t name_bytes = 0;
  char name[kMaxNameBytes] = {};
  std::string_view Name() const { return {name, name_bytes}; }
};

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
  Slot* PlaceFor(const void* java_thread);

  std::unique_ptr<Slot[], void (*)(Slot*)> slots_;
  std::atomic_flag writing_;
};

}  // namespace heaprec::sources
