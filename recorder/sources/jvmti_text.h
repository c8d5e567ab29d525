// A text allocated by JVMTI and freed at the end of the scope: JvmtiText name(jvmti); jvmti->GetX(..., name.out());
#pragma once

#include <jvmti.h>

namespace heaprec::sources {

class JvmtiText {
 public:
  explicit JvmtiText(jvmtiEnv* jvmti) : jvmti_(jvmti) {}
  ~JvmtiText() { jvmti_->Deallocate(reinterpret_cast<unsigned char*>(text_)); }  // null is allowed
  JvmtiText(const JvmtiText&) = delete;
  JvmtiText& operator=(const JvmtiText&) = delete;

  char** out() { return &text_; }
  // Empty if JVMTI returned no text.
  const char* c_str() const { return text_ != nullptr ? text_ : ""; }

 private:
  jvmtiEnv* const jvmti_;
  char* text_ = nullptr;
};

}  // namespace heaprec::sources
