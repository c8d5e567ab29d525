// The JavaThread of the calling thread, without the JVM's help: GetEnv reads thread-local memory of libjvm, which the
// first read of a thread may allocate. The JVM also keeps the thread as the value of a key (pthread_getspecific).
//
// Context:  Resolve: setup, on an attached Java thread. operator(): any; no lock, no heap.
// Threads:  any.
// Failure:  Resolve returns an Error if no key, or more than one, has the thread, or most threads are not of one class.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <span>

#include "base/result.h"

namespace heaprec::hotspot {

class CurrentThread {
 public:
  // `java_thread`: that of the calling thread. `all`: those of other threads, which may have ended since.
  static format::Result<CurrentThread> Resolve(const void* java_thread, std::span<void* const> all);

  // Null: a thread that is not attached, or one of the JVM's own that run no Java program.
  void* operator()() const {
    void* const thread = pthread_getspecific(key_);
    // A Thread begins with the address of its class's virtual functions.
    return thread != nullptr && *static_cast<const uintptr_t*>(thread) == functions_ ? thread : nullptr;
  }

 private:
  CurrentThread(pthread_key_t key, uintptr_t functions) : key_(key), functions_(functions) {}

  pthread_key_t key_;
  uintptr_t functions_;  // of JavaThread
};

}  // namespace heaprec::hotspot
