// The exact native allocation of each thread, and the byte at which it needs its next update. One cache line for each
// thread, found through one initial-exec TLS word.
//
// Units:    bytes, as requested of malloc.
// Context:  Own, OwnWork: alloc, inside malloc's family. Prepare: setup. The others: drain.
// Threads:  a clock belongs to its owner; the drain reads its atomics.
// Failure:  threads that are ending, and those beyond kCapacity, share a clock that is never due and is not counted.
// Maths:    docs/streams.md#native-memory
#pragma once

#include <atomic>
#include <cstdint>

#include "throttle/byte_clock.h"

namespace heaprec::native {

struct alignas(128) ThreadClock {
  // Written only by the owner, with plain loads and stores. They never decrease, even when the clock gets another
  // owner.
  std::atomic<uint64_t> bytes{0}, calls{0};
  std::atomic<uint64_t> due{0};        // in bytes; the drain sets it to 0 to make the owner update
  std::atomic<uint32_t> recording{0};  // the recording to which the other fields belong
  std::atomic<bool> is_inside{false};  // the owner executes code of a recording
  // Counts at the start of this recording; stored before `recording`.
  std::atomic<uint64_t> bytes_before{0}, calls_before{0};
  throttle::ByteClock points;  // of this recording; not started: no owner yet
  uint32_t os_tid = 0, index = 0;
  bool is_in_hook = false;  // a signal handler may allocate during an update
};

class ThreadClocks {
 public:
  static constexpr uint32_t kCapacity = 1 << 15;

  // Call once, before all others. Returns false without memory.
  static bool Prepare();

  // Returns the calling thread's clock, and creates it if necessary.
  static ThreadClock* Own() {
    ThreadClock* const own = own_;
    return own != &newcomers_ ? own : OwnNew();
  }
  // Returns the calling thread's clock. Threads without one share a clock that is due at each allocation.
  static ThreadClock* OwnOrShared() { return own_; }
  static bool HasOwn() { return own_ != &newcomers_; }

  // During its lifetime, allocations of the calling thread are the recorder's own: neither counted nor sampled.
  class OwnWork {
   public:
    OwnWork();
    ~OwnWork() { own_ = before_; }
    OwnWork(const OwnWork&) = delete;
    OwnWork& operator=(const OwnWork&) = delete;

   private:
    ThreadClock* const before_;
  };
  // The same until the calling thread ends.
  static void LeaveOut();

  // Makes each thread update at its next allocation.
  static void WakeAll();
  static bool IsAnybodyInside();
  struct Totals {
    uint64_t bytes = 0, calls = 0;
  };
  // Sums since each thread's first update in that recording.
  static Totals TotalOf(uint32_t recording);

 private:
  static ThreadClock* OwnNew();
  static void OnThreadEnd(void* clock);
  template <typename Visit>
  static void ForEach(const Visit& visit);

  static constinit ThreadClock newcomers_;
  [[gnu::tls_model("initial-exec")]] static constinit thread_local ThreadClock* own_;
};

}  // namespace heaprec::native
