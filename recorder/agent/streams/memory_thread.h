// The thread that asks the JVM and the kernel what memory the process has. It is attached to the JVM, as a daemon, only
// where the JVM tracks its native memory.
//
// Context:  Start: setup. Stop: the drain.
// Failure:  Start: an Error when the thread cannot be created.
#pragma once

#include <cstdint>
#include <variant>

#include "format/bytes/result.h"
#include "recorder/agent/jvm/jvm.h"
#include "recorder/agent/stoppable_thread.h"
#include "recorder/sources/state/heap_state_recorder.h"
#include "recorder/sources/state/memory_poller.h"

namespace heaprec::agent {

class MemoryThread {
 public:
  // Both outlive it.
  MemoryThread(const Jvm& jvm, sources::HeapStateRecorder& rows, uint64_t period_ns);

  format::Result<std::monostate> Start() { return thread_.Start(); }
  // Nothing is asked any more, and the thread has left the JVM.
  void Stop() { thread_.Stop(); }
  bool TryJoin() { return thread_.TryJoin(); }

 private:
  void Ask();

  const Jvm& jvm_;
  sources::MemoryPoller watch_;
  StoppableThread thread_;
};

}  // namespace heaprec::agent
