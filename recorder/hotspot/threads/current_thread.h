// Finds the JavaThread of a JNIEnv, and of the calling thread without calling the JVM: GetEnv reads thread-local memory
// of libjvm, which may have to be allocated. The JVM also stores the thread as the value of a key
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

//
// Words of the calling thread, in its thread-local storage; zero at first.
struct ThreadWords;
ThreadWords* OwnThreadWords();

// The JavaThread of a JNIEnv: the environment is a member of its thread, always at the same offset.
//
// Context:  setup: Resolve, on an attached Java thread in the live phase. The others: any.
// Threads:  any.
// Failure:  Resolve returns an Error if java.lang.Thread does not lead to its JavaThread.
class ThreadOfEnv {
 public:
  // `current`: the calling java.lang.Thread. A virtual thread has the environment of its carrier.
  static Result<ThreadOfEnv> Resolve(JNIEnv* jni, jobject current);

  // For a JVM whose JavaThread is unknown: the current thread's ThreadWords; other threads have none.
  static ThreadOfEnv FromThreadWords() { return {}; }

  // Returns the JavaThread of another thread; null before it starts and after it ends, which may happen at any moment.
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
  // `java_thread`: of the calling thread. `all`: of other threads, which may have ended since.
  static Result<CurrentThread> Resolve(const void* java_thread, std::span<void* const> all);

  // Returns null for a thread that is not attached, or one of the JVM's own threads that run no Java.
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
