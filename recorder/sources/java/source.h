// Receives candidates and decides which of them become samples. One Source per recording.
//
// Context:  OnRefill, OnOutside, BeginStackChunk, EndStackChunk: alloc, inside an AllocTracer hook: the caller holds a
//           raw oop, so neither JNI nor JVMTI may be called.
//           OnDelivered: alloc, inside SampledObjectAlloc: JNI and JVMTI may be called.
//           OnThreadEnd: alloc, inside ThreadEnd.
// Threads:  any; `thread` is the calling JavaThread.
// Failure:  none; every loss goes to the shared counters.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "recorder/buffer/lane_lease.h"
#include "recorder/hotspot/threads/thread_layout.h"
#include "recorder/sources/java/thread_table.h"
#include "recorder/sources/sample/sample_writer.h"
#include "recorder/sources/window_publisher.h"
#include "throttle/byte_clock.h"

namespace heaprec::sources {

// The position of each thread when the recording began: its allocated bytes, and the distance to its threshold. With
// it, bytes between the beginning and a thread's first update are counted and can be sampled.
//
// Units:    bytes of the thread's allocation; e in units of Exp(1), 0: not armed.
// Context:  Reserve, Add, Seal: setup, perhaps at a safepoint. Take: alloc, the thread itself. ForEachLeft: drain.
// Threads:  one writer until the recording is published; then each position is taken once, by its thread.
// Failure:  Add ignores threads beyond the reserved number. Throws nothing, because it may run on the JVM's own thread.
// Maths:    docs/sampler.md#byte-clock
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
  // `with`: the window with which threads were armed. `complete`: a thread without a position started later, with 0
  // bytes.
  void Seal(throttle::ActiveWindow with, bool complete);

  // Returns the calling thread's position, once; nullptr: it has none, or has already taken it.
  const Position* Take(const void* java_thread);
  throttle::ActiveWindow armed_with() const { return armed_with_; }
  bool complete() const { return complete_; }

  // Visits the positions that no thread has taken, because these threads have not been updated since.
  // visit(java_thread, allocated)
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

// An object that the JVM delivered through SampledObjectAlloc.
struct Delivered {
  jvmtiEnv* jvmti;
  JNIEnv* jni;
  void* java_thread;
  jthread thread;
  jobject object;
  jclass object_class;
  uint64_t size;
};

// For a clock that only counts bytes: with lambda 0 there are no points.
inline constexpr throttle::ActiveWindow kCountOnly{0, 0};

// Objects that every source uses. They must outlive it.
struct SourceParts {
  const hotspot::ThreadLayout& layout;
  WindowPublisher& windows;
  buffer::SharedCounters& shared_counters;
  SampleWriter& writer;
  ThreadTable& threads;
  uint32_t recording;  // number of the recording in this process, from 1
  uint64_t seed;
  double max_gap = std::numeric_limits<double>::infinity();  // for ByteClock::SetMaxGap
};

class Source {
 public:
  virtual ~Source() = default;
  virtual void OnRefill(void* java_thread, uint64_t size) = 0;
  virtual void OnOutside(void* java_thread, uint64_t size) = 0;
  virtual void OnDelivered(const Delivered& object) = 0;
  // Called before and after the JVM allocates a copy of a virtual thread's stack, which it never delivers.
  virtual void BeginStackChunk() {}
  virtual void EndStackChunk() {}
  virtual void OnThreadStart(void* /*java_thread*/) {}
  virtual void OnThreadEnd(void* /*java_thread*/) {}
};

// Common part of the sources of a recording.
class RecordingSource : public Source {
 public:
  explicit RecordingSource(const SourceParts& parts) : parts_(parts) {}

  // One of the next two functions is called before the source is active. StartAtSafepoint notes each thread's position
  // and arms it. Context: setup, at a safepoint: no heap except malloc, no exception.
  void StartAtSafepoint(const hotspot::ThreadList& threads);
  // Starts while threads run, and counts their bytes from now on. A thread other than the caller `self` cannot be
  // sampled before its first update (`missed`). `threads` may have ended.
  void BeginRunning(const std::vector<void*>& threads, void* self);

  void OnThreadEnd(void* java_thread) override;

  // Returns the bytes of live threads that their clocks have not counted: since their last update, or since the
  // beginning. For the end of a recording, when the sources are off. Context: drain.
  uint64_t UncountedBytes() const;

 protected:
  // Returns the thread's entry, with a clock that was started for this recording with `lambda`; null if the table is
  // full (counted) or the thread has ended.
  ThreadEntry* Entry(void* java_thread, uint64_t allocated, uint64_t size, throttle::ActiveWindow lambda);
  // The window with which threads are armed when the recording begins.
  virtual throttle::ActiveWindow AtStart() const { return kCountOnly; }
  void Settle(const Delivered& object, const throttle::DeliveryDecision& decision, format::Kind kind,
              const ThreadEntry& entry);
  void CountMissed(bool missed, double bytes);
  // For sources without hooks: a candidate that is not in the thread's TLAB is an outside object.
  format::Kind GuessKind(const Delivered& object) const;

  const SourceParts parts_;

 private:
  void StartClock(ThreadEntry& entry, void* java_thread, uint64_t allocated, uint64_t size,
                  throttle::ActiveWindow lambda);
  void NoteStart(void* java_thread, uint64_t allocated, bool arm);

  StartPositions starts_;
};

}  // namespace heaprec::sources
