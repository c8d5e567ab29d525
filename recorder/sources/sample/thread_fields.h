// Name, labels, id and kind of a java.lang.Thread, read through JNI at the event itself (names taken later are often
// wrong).
//
// Context:  Resolve: setup, on an attached thread. Read: alloc, inside a JVMTI callback; no Java code runs, no heap.
// Failure:  Resolve: Error naming the missing field. Read leaves what it cannot get empty.
#pragma once

#include <jni.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "recorder/sources/sample/labels.h"

namespace heaprec::sources {

struct ThreadIdentity {
  uint64_t java_tid = 0;
  bool is_virtual = false;
  size_t name_bytes = 0;
  char name[1024 + kMaxLabelBytes];  // and the labels behind it
  std::string_view Name() const { return {name, name_bytes}; }
};

class ThreadFields {
 public:
  static format::Result<ThreadFields> Resolve(JNIEnv* jni);
  // `thread` is the one that calls.
  void Read(JNIEnv* jni, jobject thread, ThreadIdentity* into) const;

 private:
  jfieldID name_ = nullptr, tid_ = nullptr;
  bool has_virtual_threads_ = false;
};

}  // namespace heaprec::sources
