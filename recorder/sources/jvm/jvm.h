// The agent's knowledge of its JVM: resolved once, valid until the process ends.
//
// Context:  setup: live phase, an attached thread.
// Failure:  Resolve: an Error that names what this JVM lacks; nothing can be recorded in that case. An unknown JVM, or
//           one that does not match its row of JdkRules, is not an Error.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "recorder/hotspot/jdk_rules.h"
#include "recorder/hotspot/jvmti_memory.h"
#include "recorder/hotspot/libjvm.h"
#include "recorder/hotspot/metadata/jvmti_methods.h"
#include "recorder/hotspot/metadata/names.h"
#include "recorder/hotspot/metadata/object_layout.h"
#include "recorder/hotspot/stacks/stack_walker.h"
#include "recorder/hotspot/threads/current_thread.h"
#include "recorder/hotspot/threads/thread_layout.h"
#include "recorder/hotspot/usage/heap_meter.h"
#include "recorder/hotspot/usage/jvm_meter.h"
#include "recorder/hotspot/vm_structs.h"
#include "recorder/sources/sample/thread_fields.h"

namespace heaprec::sources {

// Returns a system property; empty: it is not set.
std::string PropertyOf(jvmtiEnv* jvmti, const char* name);

// Information from the JVM's management beans: bytes allocated by all threads, and the collector. For JVMs whose own
// structures are not read.
//
// Units:    bytes since the JVM's start, including those of threads that have ended.
// Context:  Resolve: setup, live phase, an attached thread; Java code runs. AllocatedBytes: an attached thread without
//           a pending exception; a native method of the JVM runs, no bytecode of the application.
// Failure:  values that are not available (an image without jdk.management, early updates of 11) are nullopt or empty.
class JvmBeans {
 public:
  static JvmBeans Resolve(JNIEnv* jni);

  bool CountsAllocatedBytes() const { return threads_ != nullptr; }
  std::optional<uint64_t> AllocatedBytes(JNIEnv* jni) const;
  // As returned by Jvm::GcName; "unknown" if no bean has a known name.
  const std::string& gc_name() const { return gc_name_; }
  // Whether the collector has separate beans for major collections.
  bool has_major_collections() const { return has_majors_; }

 private:
  void FindCollector(JNIEnv* jni, jclass factory);
  void FindThreads(JNIEnv* jni, jclass factory);

  jobject threads_ = nullptr;  // a global reference; null: there is no such bean
  jmethodID allocated_ = nullptr;
  std::string gc_name_ = "unknown";
  bool has_majors_ = false;
};

// A missing part has a reason, which its user reports; the recording is made without the part.
struct Jvm {
  JavaVM* vm;
  jvmtiEnv* jvmti;
  hotspot::JdkRules rules;
  // Whether the JVM's memory is read at all. An Error means portable mode, which uses only JVMTI: `structs` is empty,
  // `layout` and `thread_of` describe words of the agent, and `names` uses JVMTI.
  Status internals;
  hotspot::VmStructs structs;
  Result<hotspot::SymbolTable> symbols;  // an Error if libjvm is stripped; the hooks then report it
  hotspot::ThreadLayout layout;
  Result<hotspot::ThreadList> threads;
  std::unique_ptr<hotspot::JvmtiMethods> methods;  // null: not needed
  hotspot::Names names;
  Result<hotspot::StackWalker> walker;  // an Error if stacks must come from JVMTI
  ThreadFields thread_fields;
  hotspot::ThreadOfEnv thread_of;
  hotspot::HeapMeter heap{};
  hotspot::JvmMeter usage{};
  JvmBeans beans{};  // for portable mode

  // `portable`: use only JVMTI, for any JVM.
  static Result<Jvm> Resolve(JavaVM* vm, jvmtiEnv* jvmti, JNIEnv* jni, bool portable);

  std::string Property(const char* name) const { return PropertyOf(jvmti, name); }
  // Calls visit(jthread) for each platform thread that JVMTI lists now.
  template <typename Visit>
  void ForEachThread(JNIEnv* jni, const Visit& visit) const {
    hotspot::JvmtiArray<jthread> threads(jvmti);
    if (jvmti->GetAllThreads(threads.count(), threads.out()) != JVMTI_ERROR_NONE) return;
    for (const jthread thread : threads) {
      visit(thread);
      jni->DeleteLocalRef(thread);
    }
  }
  // Returns those that run.
  std::vector<void*> AllThreads(JNIEnv* jni) const;
  // Whether only major collections clear weak references to young objects (generational ZGC).
  bool KeepsYoungReferents() const;
  // Returns an Error if the JVM's objects cannot be walked.
  Result<hotspot::ObjectLayout> Objects() const;
  std::string GcName() const;  // "G1", "Serial", "Parallel", "Z", "Shenandoah", "Epsilon", "unknown"
};

}  // namespace heaprec::sources
