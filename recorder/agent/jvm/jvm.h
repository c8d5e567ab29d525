// What the agent knows about the JVM it is in; resolved once, valid until the process ends.
//
// Context:  setup: live phase, an attached thread.
// Failure:  Resolve: an Error naming what this JVM lacks; nothing can then be recorded. A JVM that is not known, or not
//           what its JDK's rules say, is no Error.
#pragma once

#include <jvmti.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "format/bytes/result.h"
#include "recorder/agent/jvm/jvm_beans.h"
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
#include "recorder/sources/sample/thread_fields.h"

namespace heaprec::agent {

// What is not there has a reason, and whoever needs it asks for that: a recording then goes without.
struct Jvm {
  JavaVM* vm;
  jvmtiEnv* jvmti;
  hotspot::JdkRules rules;
  // Whether the JVM's own memory is read at all. An Error: the portable mode, in which JVMTI alone is asked; `structs`
  // then describes nothing, `layout` and `thread_of` are of our own words, and `names` asks JVMTI.
  format::Result<std::monostate> internals;
  hotspot::VmStructs structs;
  format::Result<hotspot::SymbolTable> symbols;  // an Error where libjvm is stripped: the hooks then say so
  hotspot::ThreadLayout layout;
  format::Result<hotspot::ThreadList> threads;
  std::unique_ptr<hotspot::JvmtiMethods> methods;  // null: nobody asks
  hotspot::Names names;
  format::Result<hotspot::StackWalker> walker;  // an Error where stacks can only be asked of JVMTI
  sources::ThreadFields thread_fields;
  hotspot::ThreadOfEnv thread_of;
  hotspot::HeapMeter heap;
  JvmBeans beans;  // of the portable mode

  // `portable`: nothing but JVMTI is used, whatever the JVM is.
  static format::Result<Jvm> Resolve(JavaVM* vm, jvmtiEnv* jvmti, JNIEnv* jni, bool portable);

  std::string Property(const char* name) const;  // a system property; empty if unset
  // Of the platform's threads that JVMTI shows; they come and go meanwhile.
  std::vector<void*> AllThreads(JNIEnv* jni) const;
  // Whether the collector keeps the young objects of weak references until it collects the old ones too.
  bool KeepsYoungReferents() const;
  // An Error where the JVM's objects cannot be walked.
  format::Result<hotspot::ObjectLayout> Objects() const;
  std::string GcName() const;  // "G1", "Serial", "Parallel", "Z", "Shenandoah", "Epsilon", "unknown"
};

// Attaches the calling native thread for its scope; nothing if it is attached already.
class AttachedScope {
 public:
  explicit AttachedScope(JavaVM* vm, const char* name = "heaprec-drain");
  ~AttachedScope();
  AttachedScope(const AttachedScope&) = delete;
  AttachedScope& operator=(const AttachedScope&) = delete;
  JNIEnv* jni() const { return jni_; }  // null: the JVM refused

 private:
  JavaVM* vm_;
  JNIEnv* jni_ = nullptr;
  bool attached_here_ = false;
};

}  // namespace heaprec::agent
