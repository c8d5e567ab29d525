// What a native method of ours returns: an Object[] of arrays.
//
// Context:  any thread of the application, in native.
// Failure:  no memory: Take returns null, and an OutOfMemoryError is on its way.
#pragma once

#include <jni.h>

#include <string>
#include <vector>

namespace heaprec::agent {

class JavaArrays {
 public:
  explicit JavaArrays(JNIEnv* jni) : jni_(jni) {}

  JavaArrays& Add(const std::vector<std::string>& texts);  // modified UTF-8
  JavaArrays& Add(const std::vector<jint>& values);
  JavaArrays& Add(const std::vector<jlong>& values);
  JavaArrays& Add(const std::vector<jdouble>& values);
  // All of them, in their order.
  jobjectArray Take();

 private:
  JNIEnv* const jni_;
  std::vector<jobject> arrays_;  // null: there was no memory for it
};

// "heaprec: why"; once the native method returns.
void ThrowIllegalState(JNIEnv* jni, const std::string& why);

}  // namespace heaprec::agent
