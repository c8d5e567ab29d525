// The JavaThread behind a JNIEnv: the environment is a member of its thread, at the same distance in all of them.
//
// Context:  setup: Resolve, on an attached Java thread in the live phase. Else any.
// Threads:  any.
// Failure:  Resolve returns an Error if java.lang.Thread does not lead to its JavaThread.
#pragma once

#include <jni.h>

#include <cstdint>

#include "base/result.h"

namespace heaprec::hotspot {

// Words of the calling thread, in its thread-local storage; zero at first.
struct ThreadWords;
ThreadWords* OwnThreadWords();

class ThreadOfEnv {
 public:
  // `current`: the java.lang.Thread that calls this. A virtual thread has the environment of its carrier.
  static format::Result<ThreadOfEnv> Resolve(JNIEnv* jni, jobject current);

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

}  // namespace heaprec::hotspot
