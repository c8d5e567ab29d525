// Lists every object that one thread really allocates between two points. It walks the thread's TLAB from the position
// at the first point, and each TLAB that is retired meanwhile before its objects move. A hook reports objects outside
// of TLABs. Nothing is instrumented, so objects that the compiler removed are not listed.
//
// Context:  Begin, End: the thread itself, in native. AroundRetirement: alloc or gc; AtOutside: alloc. These two use
//           no heap, and wait only for Begin and End, which walk at most the rest of one TLAB.
// Threads:  up to kMax probes at a time, of any threads; one thread may have several.
// Failure:  Begin returns null if there are kMax probes. A probe says whether it counted everything.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "recorder/hotspot/metadata/object_layout.h"
#include "recorder/hotspot/threads/thread_layout.h"

namespace heaprec::sources {

struct ProbedObject {
  const void* klass;
  uint64_t size;
};

class AllocationProbe {
 public:
  static constexpr size_t kMax = 64;

  // `java_thread` is the caller's. At most `most_objects` are listed. End frees the probe.
  static AllocationProbe* Begin(const hotspot::ThreadLayout& threads, const hotspot::ObjectLayout& objects,
                                void* java_thread, size_t most_objects);

  struct Found {
    std::vector<ProbedObject> objects;  // in the order of their allocation, up to the maximum
    uint64_t count = 0, bytes = 0;      // of all objects
    bool is_whole = true;               // false: a walk found something that is not an object
  };
  static Found End(AllocationProbe* probe);

  // The hooks. retire() retires the TLAB, or may do so. AtOutside: an object was allocated outside of TLABs.
  template <typename Retire>
  static void AroundRetirement(const void* tlab, const Retire& retire) {
    if (at_work.load(std::memory_order_relaxed) == 0) return retire();
    const Retirement retirement(tlab);
    retire();
  }
  static void AtOutside(const void* java_thread, const void* klass, uint64_t bytes) {
    if (at_work.load(std::memory_order_relaxed) != 0) OnOutside(java_thread, klass, bytes);
  }

 private:
  // Walks the TLAB for all probes of its thread, and prevents further walks until it is retired: functions of the JVM
  // that retire a TLAB may call one another.
  class Retirement {
   public:
    explicit Retirement(const void* tlab);
    ~Retirement();
    Retirement(const Retirement&) = delete;
    Retirement& operator=(const Retirement&) = delete;

   private:
    AllocationProbe* held_[kMax];
    size_t count_ = 0;
  };

  AllocationProbe(const hotspot::ThreadLayout& threads, const hotspot::ObjectLayout& objects, void* java_thread,
                  size_t most_objects);
  static void OnOutside(const void* java_thread, const void* klass, uint64_t bytes);

  void Lock();
  void Unlock();
  bool IsHeldByMe() const { return holder_.load(std::memory_order_relaxed) == pthread_self(); }
  // Adds the objects allocated in the TLAB since the last walk. Call under the lock.
  void Look();
  void Note(const void* klass, uint64_t bytes);

  static std::atomic<uint32_t> at_work;

  const hotspot::ThreadLayout& threads_;
  const hotspot::ObjectLayout& layout_;
  void* const java_thread_;
  const size_t most_;
  std::atomic_flag busy_;
  std::atomic<pthread_t> holder_{};
  uint64_t seen_ = 0;  // bytes from the TLAB's start, because ZGC maps the heap at several addresses
  hotspot::ObjectLayout::Known known_;
  Found found_;
};

}  // namespace heaprec::sources
