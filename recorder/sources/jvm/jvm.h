// The agent's knowledge of its JVM: resolved once, valid until the process ends.
//
// Context:  setup: live phase, an attached thread.
// Failure:  Resolve: an Error that names what this JVM lacks; then nothing can be recorded. An unknown JVM, or one that
//           does not match its row of JdkRules, is not an Error.
#pragma once

#include <jvmti.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "format/bytes/result.h"
#include "recorder/hotspot/jdk_rules.h"
#include "recorder/hotspot/libjvm/symbols.h"
#include "recorder/hotspot/libjvm/vm_structs.h"
#include "recorder/hotspot/metadata/jvmti_methods.h"
#include "recorder/hotspot/metadata/names.h"
#include "recorder/hotspot/metadata/object_layout.h"
#include "recorder/hotspot/stacks/stack_walker.h"
#include "recorder/hotspot/threads/thread_layout.h"
#include "recorder/hotspot/threads/thread_list.h"
#include "recorder/hotspot/threads/thread_of_env.h"
#include "recorder/hotspot/usage/heap_meter.h"
#include "recorder/sources/jvm/jvm_beans.h"
#include "recorder/sources/sample/thread_fields.h"

namespace heaprec::sources {

// A missing part has a reason, which its user reports; the recording then does without it.
struct Jvm {
  JavaVM* vm;
  jvmtiEnv* jvmti;
  hotspot::JdkRules rules;
  // Whether the JVM's memory is read at all. An Error: portable mode, which uses JVMTI only; then `structs` is empty,
  // `layout` and `thread_of` describe words of the agent, and `names` uses JVMTI.
  format::Result<std::monostate> internals;
  hotspot::VmStructs structs;
  format::Result<hotspot::SymbolTable> symbols;  // an Error if libjvm is stripped, which the hooks then report
  hotspot::ThreadLayout layout;
  format::Result<hotspot::ThreadList> threads;
  std::unique_ptr<hotspot::JvmtiMethods> methods;  // null: not needed
  hotspot::Names names;
  format::Result<hotspot::StackWalker> walker;  // an Error if stacks must come from JVMTI
  ThreadFields thread_fields;
  hotspot::ThreadOfEnv thread_of;
  hotspot::HeapMeter heap;
  JvmBeans beans;  // for portable mode

  // `portable`: use JVMTI only, whatever the JVM is.
  static format::Result<Jvm> Resolve(JavaVM* vm, jvmtiEnv* jvmti, JNIEnv* jni, bool portable);

  std::string Property(const char* name) const;  // a system property; empty if unset
  // Returns the platform threads that JVMTI lists now.
  std::vector<void*> AllThreads(JNIEnv* jni) const;
  // Whether only major collections clear weak references to young objects (generational ZGC).
  bool KeepsYoungReferents() const;
  // An Error if the JVM's objects cannot be walked.
  format::Result<hotspot::ObjectLayout> Objects() const;
  std::string GcName() const;  // "G1", "Serial", "Parallel", "Z", "Shenandoah", "Epsilon", "unknown"
};

}  // namespace heaprec::sources
