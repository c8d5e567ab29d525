// Finds which tracked objects have died, commits their deaths to a lane, and frees their entries.
//
// A poll checks for each reference whether the JVM has cleared it: about 0.1 us each. It runs soon after a pause of the
// collector and every two seconds, because concurrent collectors clear references between pauses. Polls take at most
// 1/400 of a core.
//
// Units:    ns of CLOCK_MONOTONIC.
// Context:  one thread that is attached to the JVM, in native state. Only this thread calls JNI; allocating threads
//           call NewWeakGlobalRef.
// Failure:  if no lane is free for a death, the next poll finds it again.
#pragma once

#include <jni.h>

#include <cstdint>

#include "recorder/buffer/ring.h"
#include "recorder/hotspot/usage/heap_meter.h"
#include "recorder/sources/agent_thread.h"
#include "recorder/sources/live/weak_ref_table.h"
#include "recorder/sources/part.h"
#include "recorder/sources/state/heap_state_recorder.h"

namespace heaprec::sources {

class WeakRefPoller {
 public:
  // All arguments must outlive it.
  WeakRefPoller(buffer::Ring& ring, WeakRefTable& table, const HeapStateRecorder& pauses,
                const hotspot::HeapMeter& meter)
      : ring_(ring), table_(table), pauses_(pauses), meter_(meter) {}

  // Deletes the references of dropped entries, and polls when it is due. Call several times a second.
  void Tick(JNIEnv* jni, uint64_t now_ns);
  // Polls now, even if it is not due.
  void PollNow(JNIEnv* jni);
  // Deletes all references. Returns false if a thread is about to track an object: call again.
  bool Clear(JNIEnv* jni);

 private:
  bool IsTime(uint64_t now_ns) const;
  void Poll(JNIEnv* jni, bool checks);
  void Check(JNIEnv* jni, uint16_t index, const WeakRefTable::View& view);
  void Free(JNIEnv* jni, uint16_t index, jweak reference);

  buffer::Ring& ring_;
  WeakRefTable& table_;
  const HeapStateRecorder& pauses_;
  const hotspot::HeapMeter& meter_;
  uint64_t last_poll_ns_ = 0, not_before_ns_ = 0;
  uint64_t seen_pauses_ = 0;
  uint64_t last_seen_alive_ = 0;  // collections at the last poll
};

// Tracks the sampled objects of a recording, on a thread that is attached to the JVM as a daemon. Only this thread
// deletes weak references and checks which of them were cleared. Stop polls a last time, deletes all references, and
// detaches the thread.
//
// Failure:  Activate returns an Error if the thread cannot be created. Until the JVM lets it attach, no deaths are
// found.
class ObjectTracker final : public Part {
 public:
  // All arguments must outlive it. At most `bound` objects are tracked at a time.
  ObjectTracker(JavaVM* vm, const hotspot::HeapMeter& meter, buffer::Ring& ring, const HeapStateRecorder& pauses,
                uint32_t bound);

  WeakRefTable& table() { return table_; }

  void Connect(writer::DrainCallbacks* callbacks) override;
  void Describe(format::FileHeader* header) const override { header->max_tracked_objects = table_.count(); }
  Status Activate() override { return thread_.Start(); }
  void Stop() override { thread_.Stop(); }
  bool TryJoin() override { return thread_.TryJoin(); }

 private:
  void Track();

  JavaVM* const vm_;
  const hotspot::HeapMeter& meter_;
  WeakRefTable table_;
  WeakRefPoller poller_;
  StoppableThread thread_;
};

}  // namespace heaprec::sources
