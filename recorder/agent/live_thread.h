// The thread that follows sampled objects: attached to the JVM as a daemon, it alone deletes weak references and asks
// which of them were cleared.
//
// Context:  Start: setup. Stop: the drain; it waits until the thread has left the JVM, or for a while.
// Failure:  Start: an Error when the thread cannot be created. As long as the JVM does not let it attach, nobody dies.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <variant>

#include "format/result.h"
#include "recorder/agent/jvm.h"
#include "recorder/buffer/ring.h"
#include "recorder/sources/death_watch.h"
#include "recorder/sources/heap_watch.h"
#include "recorder/sources/places.h"

namespace heaprec::agent {

class LiveThread {
 public:
  // All outlive it. At most `bound` objects are followed at a time.
  LiveThread(const Jvm& jvm, buffer::Ring& ring, const sources::HeapWatch& pauses, uint32_t bound);
  ~LiveThread();
  LiveThread(const LiveThread&) = delete;
  LiveThread& operator=(const LiveThread&) = delete;

  sources::Places& places() { return places_; }

  format::Result<std::monostate> Start();
  // Nothing new is followed any more: looks a last time, deletes all references, and is detached. A thread that the JVM
  // holds up (a collection that lasts) is not waited for longer than 2 s.
  void Stop();
  // The thread has ended, or was never there.
  bool TryJoin();

 private:
  void Run();
  bool SleepOneTick();
  void LeaveNothing(JNIEnv* jni);
  void Finish();

  const Jvm& jvm_;
  sources::Places places_;
  sources::DeathWatch watch_;
  pthread_t thread_{};
  bool started_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_requested_ = false, finished_ = false;
};

}  // namespace heaprec::agent
