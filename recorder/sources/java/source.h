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

#include <cstdint>
#include <limits>
#include <vector>

#include "recorder/buffer/lane_lease.h"
#include "recorder/hotspot/threads/thread_layout.h"
#include "recorder/sources/java/start_positions.h"
#include "recorder/sources/java/thread_table.h"
#include "recorder/sources/sample/sample_writer.h"
#include "recorder/sources/window_publisher.h"

namespace heaprec::sources {

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

// Parts that every source uses. They must outlive it.
struct SourceParts {
  const hotspot::ThreadLayout& layout;
  WindowPublisher& board;
  buffer::SharedCounters& shared_counters;
  SampleWriter& capture;
  ThreadTable& threads;
  uint32_t recording;  // counts the recordings of this process from 1
  uint64_t seed;
  double max_gap = std::numeric_limits<double>::infinity();  // ByteClock::SetMaxGap
};

class Source {
 public:
  virtual ~Source() = default;
  virtual void OnRefill(void* java_thread, uint64_t size) = 0;
  virtual void OnOutside(void* java_thread, uint64_t size) = 0;
  virtual void OnDelivered(const Delivered& object) = 0;
  // Around the allocation of a copy of a virtual thread's stack, which the JVM never delivers.
  virtual void BeginStackChunk() {}
  virtual void EndStackChunk() {}
  virtual void OnThreadStart(void* /*java_thread*/) {}
  virtual void OnThreadEnd(void* /*java_thread*/) {}
};

// Common part of the sources of a recording.
class RecordingSource : public Source {
 public:
  explicit RecordingSource(const SourceParts& parts) : parts_(parts) {}

  // One of the next two is called before the source is active. At a safepoint: notes each thread's position and arms
  // it. Context: setup, at a safepoint: no heap except malloc, no exception.
  void StartAtSafepoint(const hotspot::ThreadList& threads);
  // While threads run: their bytes are counted from now on. A thread other than the caller `self` cannot be sampled
  // before its first update (`missed`). `threads` may have ended.
  void BeginRunning(const std::vector<void*>& threads, void* self);

  void OnThreadEnd(void* java_thread) override;

  // Bytes of live threads since their last update, or since the beginning, which the clocks have not counted yet. For
  // the end of a recording, when the sources are off. Context: drain.
  uint64_t UncountedBytes() const;

 protected:
  // The thread's entry, with a clock started for this recording with `lambda`; null if the table is full (counted) or
  // the thread has ended.
  ThreadEntry* Entry(void* java_thread, uint64_t allocated, uint64_t size, throttle::ActiveWindow lambda);
  // The window with which threads are armed when the recording begins.
  virtual throttle::ActiveWindow AtStart() const { return kCountOnly; }
  void Settle(const Delivered& object, const throttle::DeliveryDecision& decision, format::Kind kind,
              const ThreadEntry& entry);
  void CountMissed(bool missed, double bytes);
  // Without a hook: a candidate that is not in the thread's TLAB is an outside object.
  format::Kind GuessKind(const Delivered& object) const;

  const SourceParts parts_;

 private:
  void StartClock(ThreadEntry& entry, void* java_thread, uint64_t allocated, uint64_t size,
                  throttle::ActiveWindow lambda);
  void NoteStart(void* java_thread, uint64_t allocated, bool arm);

  StartPositions starts_;
};

}  // namespace heaprec::sources
