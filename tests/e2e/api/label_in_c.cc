// Natives of e2e.Labels: a library of the application that labels through include/heaprec.h.
#include <jni.h>

#include "include/heaprec.h"

extern "C" JNIEXPORT void JNICALL Java_e2e_Labels_labelInC(JNIEnv* jni, jclass, jstring key, jstring value) {
  const char* const key_text = jni->GetStringUTFChars(key, nullptr);
  const char* const value_text = value != nullptr ? jni->GetStringUTFChars(value, nullptr) : nullptr;
  heaprec_label_thread(key_text, value_text);
  if (value_text != nullptr) jni->ReleaseStringUTFChars(value, value_text);
  jni->ReleaseStringUTFChars(key, key_text);
}
