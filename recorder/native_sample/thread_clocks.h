// What each thread has allocated in native memory, exactly, and the byte at which it has to be looked at next: one line
// of memory for each thread, found through one initial-exec TLS word.
//
// Units:    bytes, as malloc was asked for them.
// Context:  Own, OwnWork: alloc, inside malloc's family. Prepare: setup. The rest: drain.
// Threads:  a clock is its owner's; the drain reads its atomics.
// Failure:  threads that are ending, and those beyond kCapacity, share a clock that is never due and is not counted.
// Maths:    docs/streams.md#native-memory
#pragma once

#include <atomic>
#include <cstdint>

#include "throttle/byte_clock.h"

namespace heaprec::native {

struct alignas(128) ThreadClock {
  // Written by the owner alone: plain loads and stores. They never fall, whoever owns the clock.
  std::atomic<uint64_t> bytes{0}, calls{0};
  std::atomic<uint64_t> due{0};        // of bytes; the drain sets it to 0 to be heard
  std::atomic<uint32_t> recording{0};  // for which the rest is
  std::atomic<bool> is_inside{false};  // the owner is in what was allocated for a recording
  // Of this recording; stored before `recording`.
  std::atomic<uint64_t> bytes_before{0}, calls_before{0};
  throttle::ByteClock points;  // of this recording; not started: of no owner yet
  uint32_t os_tid = 0, index = 0;
  bool is_in_hook = false;  // a signal's handler may come to allocate in the middle of a touch
};

class ThreadClocks {
 public:
  static constexpr uint32_t kCapacity = 1 << 15;

  // Once, before anything else. False: no memory.
  static bool Prepare();

  // Of the calling thread; a new one where it has none.
  static ThreadClock* Own() {
    ThreadClock* const own = own_;
    return own != &newcomers_ ? own : OwnNew();
  }
  // The same, but for threads that have none: theirs is everybody's, and past its due at each allocation.
  static ThreadClock* OwnOrNewcomers() { return own_; }
  static bool HasOwn() { return own_ != &newcomers_; }

  // What the calling thread allocates while it lives is the recorder's own: it is not counted, and not sampled.
  class OwnWork {
   public:
    OwnWork();
    ~OwnWork() { own_ = before_; }
    OwnWork(const OwnWork&) = delete;
    OwnWork& operator=(const OwnWork&) = delete;

   private:
    ThreadClock* const before_;
  };
  // The same, for the rest of the calling thread's life.
  static void LeaveOut();

  // Each looks up at its next allocation.
  static void WakeAll();
  static bool IsAnybodyInside();
  struct Totals {
    uint64_t bytes = 0, calls = 0;
  };
  // Since each thread's first touch in that recording.
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
