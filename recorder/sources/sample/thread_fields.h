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

namespace heaprec::sources {

// The labels of a thread's samples: for each label a zero byte and "key=value", as in a recording.
//
// Units:    bytes.
// Context:  CurrentLabels: alloc, one load without labels. SetLabel, ForgetLabels: setup (they use the heap).
// Threads:  each function is about its caller's thread only.
// Failure:  SetLabel returns false if there is no room, or the key is invalid; the labels are then unchanged.
// Format:   docs/format/recording.md#dictionaries (threads)
inline constexpr size_t kMaxLabelBytes = 255;

// An empty `value` is a value; see ClearLabel.
bool SetLabel(std::string_view key, std::string_view value);
void ClearLabel(std::string_view key);
void ForgetLabels();  // when the thread leaves the JVM; its end frees them, too

// Valid until the caller's thread changes them.
std::string_view CurrentLabels();

struct ThreadIdentity {
  uint64_t java_tid = 0;
  bool is_virtual = false;
  size_t name_bytes = 0;
  char name[1024 + kMaxLabelBytes];  // and the labels behind it
  std::string_view Name() const { return {name, name_bytes}; }
};

class ThreadFields {
 public:
  static Result<ThreadFields> Resolve(JNIEnv* jni);
  // `thread` is the one that calls.
  void Read(JNIEnv* jni, jobject thread, ThreadIdentity* into) const;

 private:
  jfieldID name_ = nullptr, tid_ = nullptr;
  bool has_virtual_threads_ = false;
};

}  // namespace heaprec::sources
