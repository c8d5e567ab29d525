// What JVMTI says about methods, cached by jmethodID. For JVMs whose metadata cannot be read, or whose jmethodIDs do
// not lead to it.
//
// Bound:    kMaxMethods; methods beyond them have no names. Entries are kept for ever, because a jmethodID is
//           never reused.
// Context:  a JVMTI callback, or setup, on an attached thread: JNI and JVMTI are legal, and the method is on the stack
//           or a reference keeps its class loaded. The memory of names is the JVM's (Allocate).
// Threads:  any number.
// Failure:  null: JVMTI does not know the method, or there is no room.
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

  class Method {
   public:
    std::string_view class_name, name, descriptor;  // class_name: internal form, hidden classes with a '+'
    // -1: unknown, or a native method.
    int Line(jlocation bci) const;

   private:
    friend class JvmtiMethods;
    jmethodID id = nullptr;
    char *class_text = nullptr, *name_text = nullptr, *descriptor_text = nullptr;
    jvmtiLineNumberEntry* lines = nullptr;
    jint line_count = 0;
  };
  const Method* Find(jmethodID id);

  static constexpr size_t kMaxMethods = size_t{7} << 13;

 private:
  static constexpr size_t kSlots = size_t{1} << 16;

  Method* Ask(jmethodID id);
  bool AskClass(jmethodID id, Method* into);
  void Free(Method* method);

  JavaVM* const vm_;
  jvmtiEnv* const jvmti_;
  // Open addressing; a slot is set once.
  std::unique_ptr<std::atomic<Method*>[]> slots_;
  std::atomic<size_t> count_{0};
};

}  // namespace heaprec::hotspot
