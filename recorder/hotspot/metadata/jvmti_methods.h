// Information from JVMTI about methods, cached by jmethodID. Used if the JVM's metadata cannot be read, or jmethodIDs
// do not point to it.
//
// Bound:    kMaxMethods; methods beyond them have no names. Entries are never removed, because a jmethodID is never
//           reused. Redefinitions add up to kMaxMethods line tables; versions beyond them have no lines.
// Context:  a JVMTI callback, or setup, on an attached thread: JNI and JVMTI are legal, and the method is on the stack
//           or a reference keeps its class loaded. The memory of names is the JVM's (Allocate).
// Threads:  any number.
// Failure:  null, -1: JVMTI does not know the method, or the cache is full. On a JVM that does not count a class's
//           redefinitions (Class.classRedefinedCount) lines stay those of the first version.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace heaprec::hotspot {

// Returns the line of the entry with exactly this bci, otherwise of the last entry with the greatest smaller bci: the
// JVM's own rule. -1: there is none. The entries may be in any order.
int LineAt(std::span<const jvmtiLineNumberEntry> table, jlocation bci);

class JvmtiMethods {
 public:
  JvmtiMethods(JavaVM* vm, jvmtiEnv* jvmti);
  JvmtiMethods(const JvmtiMethods&) = delete;
  JvmtiMethods& operator=(const JvmtiMethods&) = delete;
  ~JvmtiMethods();

  class Method;
  struct Names {
    std::string_view class_name, name, descriptor;  // class_name: internal form, hidden classes with a '+'
  };
  const Names* Find(jmethodID id);
  // Uses the newest version of the method, to which a jmethodID refers. -1: unknown, or a native method.
  int Line(jmethodID id, jlocation bci);

  static constexpr size_t kMaxMethods = size_t{7} << 13;

 private:
  static constexpr size_t kSlots = size_t{1} << 16;

  struct Lines;

  Method* FindMethod(jmethodID id);
  JNIEnv* Jni() const;
  Method* Ask(jmethodID id);
  bool AskClass(jmethodID id, Method* into);
  Lines* AskLines(Method* method, jint version);
  void Free(Method* method);

  JavaVM* const vm_;
  jvmtiEnv* const jvmti_;
  jfieldID redefinitions_ = nullptr;  // field of a class; null: the JVM does not count redefinitions
  // Open addressing; a slot is set once.
  std::unique_ptr<std::atomic<Method*>[]> slots_;
  std::atomic<size_t> count_{0}, tables_{0};
};

}  // namespace heaprec::hotspot
