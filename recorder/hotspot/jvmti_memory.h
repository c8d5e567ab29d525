// Arrays and texts that JVMTI allocates, freed at the end of the scope:
//
//   JvmtiArray<jthread> threads(jvmti);
//   if (jvmti->GetAllThreads(threads.count(), threads.out()) != JVMTI_ERROR_NONE) return;
//   JvmtiText name(jvmti);
//   jvmti->GetMethodName(method, name.out(), nullptr, nullptr);
//
// Context:  any in which JVMTI may be called.
#pragma once

#include <jvmti.h>

namespace heaprec::hotspot {

template <typename T>
class JvmtiArray {
 public:
  explicit JvmtiArray(jvmtiEnv* jvmti) : jvmti_(jvmti) {}
  ~JvmtiArray() { jvmti_->Deallocate(reinterpret_cast<unsigned char*>(first_)); }  // null is allowed
  JvmtiArray(const JvmtiArray&) = delete;
  JvmtiArray& operator=(const JvmtiArray&) = delete;

  jint* count() { return &count_; }
  T** out() { return &first_; }
  // Empty if JVMTI returned nothing.
  T* begin() const { return first_; }
  T* end() const { return first_ + count_; }

 private:
  jvmtiEnv* const jvmti_;
  T* first_ = nullptr;
  jint count_ = 0;
};

class JvmtiText {
 public:
  explicit JvmtiText(jvmtiEnv* jvmti) : text_(jvmti) {}
  char** out() { return text_.out(); }
  // Empty if JVMTI returned no text.
  const char* c_str() const { return text_.begin() != nullptr ? text_.begin() : ""; }

 private:
  JvmtiArray<char> text_;
};

}  // namespace heaprec::hotspot
