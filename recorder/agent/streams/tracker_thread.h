// The thread that follows sampled objects: attached to the JVM as a daemon, it alone deletes weak references and asks
// which of them were cleared.
//
// Context:  Start: setup. Stop: the drain; it waits until the thread has left the JVM, or for a while.
// Failure:  Start: an Error when the thread cannot be created. As long as the JVM does not let it attach, nobody dies.
#pragma once

#include <cstdint>
#include <variant>

#include "format/bytes/result.h"
#include "recorder/agent/jvm/jvm.h"
#include "recorder/agent/stoppable_thread.h"
#include "recorder/buffer/ring.h"
#include "recorder/sources/live/weak_ref_poller.h"
#include "recorder/sources/live/weak_ref_table.h"
#include "recorder/sources/state/heap_state_recorder.h"

namespace heaprec::agent {

class TrackerThread {
 public:
  // All outlive it. At most `bound` objects are tracked at a time.
  TrackerThread(const Jvm& jvm, buffer::Ring& ring, const sources::HeapStateRecorder& pauses, uint32_t bound);

  sources::WeakRefTable& places() { return places_; }

  format::Result<std::monostate> Start() { return thread_.Start(); }
  // Nothing new is tracked any more: looks a last time, deletes all references, and is detached.
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
