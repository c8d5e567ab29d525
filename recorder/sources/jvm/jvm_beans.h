// What the JVM's management beans report: how much all threads have allocated, and which collector runs. For JVMs
// whose own structures are not read.
//
// Units:    bytes since the JVM's start, including those of threads that have ended.
// Context:  Resolve: setup, live phase, an attached thread; Java code runs. AllocatedBytes: an attached thread without
//           a pending exception; a native method of the JVM runs, no bytecode of the application.
// Failure:  what is not available (an image without jdk.management, early updates of 11) is nullopt, or empty.
#pragma once

#include <jni.h>

#include <cstdint>
#include <optional>
#include <string>

namespace heaprec::sources {

class JvmBeans {
 public:
  static JvmBeans Resolve(JNIEnv* jni);

  bool CountsAllocatedBytes() const { return threads_ != nullptr; }
  std::optional<uint64_t> AllocatedBytes(JNIEnv* jni) const;
  // As Jvm::GcName; "unknown" if the names of the beans do not tell.
  const std::string& gc_name() const { return gc_name_; }
  // Whether the collector has beans of its own for major collections.
  bool has_major_collections() const { return has_majors_; }

 private:
  void FindCollector(JNIEnv* jni, jclass factory);
  void FindThreads(JNIEnv* jni, jclass factory);

  jobject threads_ = nullptr;  // a global reference; null: there is no such bean
  jmethodID allocated_ = nullptr;
  std::string gc_name_ = "unknown";
  bool has_majors_ = false;
};

}  // namespace heaprec::sources
