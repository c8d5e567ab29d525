// What JVMTI says about methods, cached by jmethodID. For JVMs whose metadata cannot be read, or whose jmethodIDs do
// not lead to it.
//
// Bound:    kMaxMethods; methods beyond them have no names. Entries are kept for ever, because a jmethodID is
//           never reused. After redefinitions kMaxMethods tables of lines; a version beyond them has no lines.
// Context:  a JVMTI callback, or setup, on an attached thread: JNI and JVMTI are legal, and the method is on the stack
//           or a reference keeps its class loaded. The memory of names is the JVM's (Allocate).
// Threads:  any number.
// Failure:  null, -1: JVMTI does not know the method, or there is no room. On a JVM that does not count a class's
//           redefinitions (Class.classRedefinedCount) lines stay those of the first version.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>

namespace heaprec::hotspot {

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
  // Of the newest version, to which a jmethodID leads. -1: unknown, or a native method.
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
  jfieldID redefinitions_ = nullptr;  // of a class; null: the JVM does not count them
  // Open addressing; a slot is set once.
  std::unique_ptr<std::atomic<Method*>[]> slots_;
  std::atomic<size_t> count_{0}, tables_{0};
};

}  // namespace heaprec::hotspot
