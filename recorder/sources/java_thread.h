// The JavaThread behind a JNIEnv: the environment is a member of it, at an offset measured once.
//
// Context:  Resolve: setup, an attached thread. Of: any.
#pragma once

#include <jni.h>

#include <cstddef>

#include "format/result.h"

namespace heaprec::sources {

class JavaThreadLocator {
 public:
  // `current`: the java.lang.Thread of the calling thread, whose field eetop holds its JavaThread's address.
  static format::Result<JavaThreadLocator> Resolve(JNIEnv* jni, jobject current);
  void* Of(JNIEnv* jni) const { return reinterpret_cast<char*>(jni) - offset_; }

 private:
  ptrdiff_t offset_ = 0;
};

}  // namespace heaprec::sources
