// Name, labels, id and kind of a java.lang.Thread, read through JNI during the event (names read later are often
// wrong).
//
// Context:  Resolve: setup, on an attached thread. Read: alloc, inside a JVMTI callback; no Java code runs, no heap.
// Failure:  Resolve: Error naming the missing field. Read leaves unavailable fields empty.
#pragma once

#include <jni.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace heaprec::sources {

// The labels of a thread's samples: for each label a zero byte and "key=value", as in a recording.
//
// Units:    bytes.
// Context:  CurrentLabels: alloc, one load without labels. SetLabel, ForgetLabels: setup (they use the heap).
// Threads:  each function uses the labels of the calling thread.
// Failure:  SetLabel returns false if there is no space, or the key is invalid; the labels are then unchanged.
// Format:   docs/format/recording.md#dictionaries (threads)
inline constexpr size_t kMaxLabelBytes = 255;

// An empty `value` is stored; ClearLabel removes the label.
bool SetLabel(std::string_view key, std::string_view value);
void ClearLabel(std::string_view key);
void ForgetLabels();  // when the thread leaves the JVM; the end of the thread also frees them

// Valid until the caller's thread changes them.
std::string_view CurrentLabels();

struct ThreadIdentity {
  uint64_t java_tid = 0;
  bool is_virtual = false;
  size_t name_bytes = 0;
  char name[1024 + kMaxLabelBytes];  // followed by the labels
  std::string_view Name() const { return {name, name_bytes}; }
};

class ThreadFields {
 public:
  static Result<ThreadFields> Resolve(JNIEnv* jni);
  // `thread` is the calling thread.
  void Read(JNIEnv* jni, jobject thread, ThreadIdentity* into) const;

 private:
  jfieldID name_ = nullptr, tid_ = nullptr;
  bool has_virtual_threads_ = false;
};

}  // namespace heaprec::sources
