// The JavaThread of a JNIEnv, and of the calling thread without the JVM's help: GetEnv reads thread-local memory of
// libjvm, which the first read of a thread may allocate. The JVM also keeps the thread as the value of a key
// (pthread_getspecific).
//
// Context:  Resolve: setup, on an attached Java thread. operator(): any; no lock, no heap.
// Threads:  any.
// Failure:  Resolve returns an Error if no key, or more than one, has the thread, or most threads are not of one class.
#pragma once

#include <jni.h>
#include <pthread.h>

#include <cstdint>
#include <span>

#include "base/result.h"

namespace heaprec::hotspot {

// The JavaThread behind a JNIEnv: the environment is a member of its thread, at the same distance in all of them.
//
// Context:  setup: Resolve, on an attached Java thread in the live phase. Else any.
// Threads:  any.
// Failure:  Resolve returns an Error if java.lang.Thread does not lead to its JavaThread.
//
// Words of the calling thread, in its thread-local storage; zero at first.
struct ThreadWords;
ThreadWords* OwnThreadWords();

class ThreadOfEnv {
 public:
  // `current`: the java.lang.Thread that calls this. A virtual thread has the environment of its carrier.
  static Result<ThreadOfEnv> Resolve(JNIEnv* jni, jobject current);

  // For a JVM whose JavaThread is unknown: the current thread's ThreadWords; other threads have none.
  static ThreadOfEnv FromThreadWords() { return {}; }

  // The JavaThread of another thread; null before it starts and after it ends, which may happen at any moment.
  void* OfThread(JNIEnv* jni, jobject thread) const {
    if (eetop_ == nullptr) return nullptr;
    return reinterpret_cast<void*>(jni->GetLongField(thread, eetop_));  // NOLINT(performance-no-int-to-ptr)
  }

  void* operator()(const JNIEnv* jni) const {
    if (eetop_ == nullptr) return OwnThreadWords();
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(jni) - distance_);  // NOLINT(performance-no-int-to-ptr)
  }

 private:
  jfieldID eetop_ = nullptr;
  uintptr_t distance_ = 0;
};

class CurrentThread {
 public:
  // `java_thread`: that of the calling thread. `all`: those of other threads, which may have ended since.
  static Result<CurrentThread> Resolve(const void* java_thread, std::span<void* const> all);

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
