// The position of each thread when the recording began: the bytes it had allocated, and how far ahead it was armed. So
// bytes between the beginning and a thread's first update are counted, and could be sampled.
//
// Units:    bytes of the thread's allocation; e in units of Exp(1), 0: not armed.
// Context:  Reserve, Add, Seal: setup, perhaps at a safepoint. Take: alloc, the thread itself. ForEachLeft: drain.
// Threads:  one writer until the recording is published to all others; then each position is taken once, by
//           its thread.
// Failure:  Add ignores threads for which no room was reserved. No exception: it may run on the JVM's own thread.
// Maths:    docs/sampler.md#byte-clock
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "throttle/byte_clock.h"

namespace heaprec::sources {

class StartPositions {
 public:
  struct Position {
    std::atomic<void*> java_thread{nullptr};
    std::atomic<bool> taken{false};
    uint64_t allocated = 0;
    double e = 0;
  };

  void Reserve(size_t threads);
  void Add(void* java_thread, uint64_t allocated, double e);
  // `with`: the window with which threads were armed. `complete`: a thread that is not here started later, with
  // 0 bytes.
  void Seal(throttle::ActiveWindow with, bool complete);

  // The calling thread's position, once; nullptr: it has none, or has already taken it.
  const Position* Take(const void* java_thread);
  throttle::ActiveWindow armed_with() const { return armed_with_; }
  bool complete() const { return complete_; }

  // Positions that no thread has taken: their threads have not been updated since. visit(java_thread, allocated)
  template <typename Visit>
  void ForEachLeft(const Visit& visit) const {
    for (size_t i = 0; i < capacity_; ++i) {
      void* const java_thread = slots_[i].java_thread.load(std::memory_order_relaxed);
      if (java_thread != nullptr && !slots_[i].taken.load(std::memory_order_relaxed))
        visit(java_thread, slots_[i].allocated);
    }
  }

 private:
  // Open addressing; a power of two, at most half full.
  std::unique_ptr<Position[]> slots_;
  size_t capacity_ = 0, count_ = 0;
  throttle::ActiveWindow armed_with_{};
  bool complete_ = false;
};

}  // namespace heaprec::sources
