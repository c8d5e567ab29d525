// Where candidates come from and which of them become samples: one Source per recording.
//
// Context:  OnRefill, OnOutside, BeginStackChunk, EndStackChunk: alloc, inside an AllocTracer hook: the caller holds a
// raw oop, no JNI, no JVMTI.
//           OnDelivered: alloc, inside SampledObjectAlloc: JNI and JVMTI are legal.
//           OnThreadEnd: alloc, inside ThreadEnd.
// Threads:  any; `thread` is the calling JavaThread.
// Failure:  none; every loss goes to the shared counters.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "recorder/buffer/shared_counters.h"
#include "recorder/hotspot/threads/thread_layout.h"
#include "recorder/hotspot/threads/thread_list.h"
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

// For a clock that only counts bytes: with lambda 0 no point falls.
inline constexpr throttle::ActiveWindow kCountOnly{0, 0};

// What every source works with; all outlive it.
struct SourceParts {
  const hotspot::ThreadLayout& layout;
  WindowPublisher& board;
  buffer::SharedCounters& shared_counters;
  SampleWriter& capture;
  ThreadTable& threads;
  uint32_t recording;  // counts the recordings of this process from 1
  uint64_t seed;
  double reach = std::numeric_limits<double>::infinity();  // ByteClock::SetMaxGap
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

// What the sources of a recording share.
class RecordingSource : public Source {
 public:
  explicit RecordingSource(const SourceParts& parts) : parts_(parts) {}

  // One of these two comes before the source is active. All Java threads are stopped: notes where each of them stands,
  // and arms it. Context: setup, at a safepoint: no heap but malloc, no exception.
  void StartAtSafepoint(const hotspot::ThreadList& threads);
  // The threads run. Their bytes are counted from here on, but up to its first touch nobody samples a thread other than
  // the caller, `self`: `missed`. `threads` may have ended.
  void BeginRunning(const std::vector<void*>& threads, void* self);

  void OnThreadEnd(void* java_thread) override;

  // Bytes of live threads since their last touch, or since the beginning: what the clocks have not counted yet. For the
  // end of a recording, when the sources are off. Context: drain.
  uint64_t UncountedBytes() const;

 protected:
  // The thread's entry with a clock started for this recording under `lambda`; null when the table is full (counted) or
  // the thread has ended.
  ThreadEntry* Entry(void* java_thread, uint64_t allocated, uint64_t size, throttle::ActiveWindow lambda);
  // Under which threads are armed when the recording begins.
  virtual throttle::ActiveWindow AtStart() const { return kCountOnly; }
  void Settle(const Delivered& object, const throttle::DeliveryDecision& hit, format::Kind kind,
              const ThreadEntry& entry);
  void CountMissed(bool missed, double bytes);
  // Where no hook tells: the only candidates that do not lie in the thread's TLAB are those outside.
  format::Kind GuessKind(const Delivered& object) const;
  // A generator for one decision about the thread's latest candidate, where the clock draws none.
  throttle::Random DrawFor(const ThreadEntry& entry) const;
  // What a kept point tells the controller, in the unit in which it counts the population.
  virtual throttle::PointSums TallyOf(const throttle::DeliveryDecision& hit) const {
    return {hit.weight_bytes, hit.effective_bytes};
  }

  const SourceParts parts_;

 private:
  void StartClock(ThreadEntry& entry, void* java_thread, uint64_t allocated, uint64_t size,
                  throttle::ActiveWindow lambda);
  void NoteStart(void* java_thread, uint64_t allocated, bool arm);

  StartPositions starts_;
};

}  // namespace heaprec::sources
