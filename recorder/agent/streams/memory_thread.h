// The thread that polls the JVM and the kernel for the process' memory. It is attached to the JVM, as a daemon, only
// if the JVM tracks its native memory.
//
// Context:  Start: setup. Stop: the drain.
// Failure:  Start returns an Error if the thread cannot be created.
#pragma once

#include <cstdint>
#include <variant>

#include "base/result.h"
#include "recorder/agent/jvm/jvm.h"
#include "recorder/agent/stoppable_thread.h"
#include "recorder/sources/state/heap_state_recorder.h"
#include "recorder/sources/state/memory_poller.h"

namespace heaprec::agent {

class MemoryThread {
 public:
  // Both arguments must outlive it.
  MemoryThread(const Jvm& jvm, sources::HeapStateRecorder& rows, uint64_t period_ns);

  format::Result<std::monostate> Start() { return thread_.Start(); }
  // Stops polling; the thread has left the JVM.
  void Stop() { thread_.Stop(); }
  bool TryJoin() { return thread_.TryJoin(); }

 private:
  void Ask();

  const Jvm& jvm_;
  sources::MemoryPoller watch_;
  StoppableThread thread_;
};

}  // namespace heaprec::agent
