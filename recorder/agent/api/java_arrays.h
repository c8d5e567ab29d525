// Builds the return value of the agent's native methods: an Object[] of arrays.
//
// Context:  any thread of the application, in native.
// Failure:  without memory Take returns null, and an OutOfMemoryError is pending.
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
  // Returns all of them, in the order of the calls.
  jobjectArray Take();

 private:
  template <typename Value, typename Array>
  JavaArrays& AddNumbers(const std::vector<Value>& values, Array (JNIEnv::*make)(jsize),
                         void (JNIEnv::*set)(Array, jsize, jsize, const Value*));
  JNIEnv* const jni_;
  std::vector<jobject> arrays_;  // null: there was no memory for this array
};

// Throws an IllegalStateException "heaprec: why" once the native method returns.
void ThrowIllegalState(JNIEnv* jni, const std::string& why);

}  // namespace heaprec::agent
