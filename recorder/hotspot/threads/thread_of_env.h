// The JavaThread behind a JNIEnv: the environment is a member of its thread, at the same distance in all of them.
//
// Context:  setup: Resolve, on an attached Java thread in the live phase. Else any.
// Threads:  any.
// Failure:  Resolve is an Error when java.lang.Thread does not tell its JavaThread.
#pragma once

#include <jni.h>

#include <cstdint>

#include "format/bytes/result.h"

namespace heaprec::hotspot {

// The calling thread's, in its thread-local storage: zeros at first.
struct ThreadWords;
ThreadWords* OwnThreadWords();

class ThreadOfEnv {
 public:
  // `current`: the java.lang.Thread that runs this, not a virtual one.
  static format::Result<ThreadOfEnv> Resolve(JNIEnv* jni, jobject current);

  // Where the JavaThread is not known: the current thread's ThreadWords; other threads have none.
  static ThreadOfEnv OfThreadWords() { return {}; }

  // Of another thread; null before it starts and after it ends, which may be at any moment.
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
