// The thread that asks the JVM and the kernel what memory the process has. It is attached to the JVM, as a daemon, only
// where the JVM tracks its native memory.
//
// Context:  Start: setup. Stop: the drain.
// Failure:  Start: an Error when the thread cannot be created.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <variant>

#include "format/result.h"
#include "recorder/agent/jvm.h"
#include "recorder/sources/heap_watch.h"
#include "recorder/sources/memory_watch.h"

namespace heaprec::agent {

class MemoryThread {
 public:
  // Both outlive it.
  MemoryThread(const Jvm& jvm, sources::HeapWatch& rows, uint64_t period_ns);
  ~MemoryThread();
  MemoryThread(const MemoryThread&) = delete;
  MemoryThread& operator=(const MemoryThread&) = delete;

  format::Result<std::monostate> Start();
  // Nothing is asked any more, and the thread has left the JVM. One that the JVM or the kernel holds up is not waited
  // for longer than 2 s.
  void Stop();
  // The thread has ended, or was never there.
  bool TryJoin();

 private:
  void Run();
  void Ask();
  void Finish();

  const Jvm& jvm_;
  sources::MemoryWatch watch_;
  pthread_t thread_{};
  bool started_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_requested_ = false, finished_ = false;
};

}  // namespace heaprec::agent
