// The thread that tracks sampled objects. It is attached to the JVM as a daemon. It alone deletes weak references and
// asks which of them were cleared.
//
// Context:  Start: setup. Stop: the drain; it waits until the thread has left the JVM, or for a while.
// Failure:  Start returns an Error if the thread cannot be created. Until the JVM lets it attach, no deaths are found.
#pragma once

#include <cstdint>
#include <variant>

#include "base/result.h"
#include "recorder/agent/jvm/jvm.h"
#include "recorder/agent/stoppable_thread.h"
#include "recorder/buffer/ring.h"
#include "recorder/sources/live/weak_ref_poller.h"
#include "recorder/sources/live/weak_ref_table.h"
#include "recorder/sources/state/heap_state_recorder.h"

namespace heaprec::agent {

class TrackerThread {
 public:
  // All arguments must outlive it. At most `bound` objects are tracked at a time.
  TrackerThread(const Jvm& jvm, buffer::Ring& ring, const sources::HeapStateRecorder& pauses, uint32_t bound);

  sources::WeakRefTable& places() { return places_; }

  format::Result<std::monostate> Start() { return thread_.Start(); }
  // Stops tracking: polls a last time, deletes all references, and detaches the thread.
  void Stop() { thread_.Stop(); }
  bool TryJoin() { return thread_.TryJoin(); }

 private:
  void Follow();
  void DeleteAllReferences(JNIEnv* jni);

  const Jvm& jvm_;
  sources::WeakRefTable places_;
  sources::WeakRefPoller watch_;
  StoppableThread thread_;
};

}  // namespace heaprec::agent
