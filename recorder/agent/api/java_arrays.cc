#include "recorder/agent/api/java_arrays.h"

#include <algorithm>

namespace heaprec::agent {
namespace {

// Returns null without memory. An exception is pending then, so no other JNI function may be called.
jobjectArray NewArray(JNIEnv* jni, const char* of, size_t count) {
  if (jni->ExceptionCheck() == JNI_TRUE) return nullptr;
  const jclass type = jni->FindClass(of);
  return type != nullptr ? jni->NewObjectArray(static_cast<jsize>(count), type, nullptr) : nullptr;
}

}  // namespace

JavaArrays& JavaArrays::Add(const std::vector<std::string>& texts) {
  const jobjectArray array = NewArray(jni_, "java/lang/String", texts.size());
  arrays_.push_back(array);
  for (jsize i = 0; array != nullptr && i < static_cast<jsize>(texts.size()); ++i) {
    const jstring text = jni_->NewStringUTF(texts[static_cast<size_t>(i)].c_str());
    if (text == nullptr) {
      arrays_.back() = nullptr;
      break;
    }
    jni_->SetObjectArrayElement(array, i, text);
    jni_->DeleteLocalRef(text);
  }
  return *this;
}

template <typename Value, typename Array>
JavaArrays& JavaArrays::AddNumbers(const std::vector<Value>& values, Array (JNIEnv::*make)(jsize),
                                   void (JNIEnv::*set)(Array, jsize, jsize, const Value*)) {
  const auto size = static_cast<jsize>(values.size());
  const Array array = jni_->ExceptionCheck() == JNI_TRUE ? nullptr : (jni_->*make)(size);
  if (array != nullptr) (jni_->*set)(array, 0, size, values.data());
  arrays_.push_back(array);
  return *this;
}

JavaArrays& JavaArrays::Add(const std::vector<jint>& values) {
  return AddNumbers(values, &JNIEnv::NewIntArray, &JNIEnv::SetIntArrayRegion);
}
JavaArrays& JavaArrays::Add(const std::vector<jlong>& values) {
  return AddNumbers(values, &JNIEnv::NewLongArray, &JNIEnv::SetLongArrayRegion);
}
JavaArrays& JavaArrays::Add(const std::vector<jdouble>& values) {
  return AddNumbers(values, &JNIEnv::NewDoubleArray, &JNIEnv::SetDoubleArrayRegion);
}

jobjectArray JavaArrays::Take() {
  if (std::find(arrays_.begin(), arrays_.end(), nullptr) != arrays_.end()) return nullptr;
  const jobjectArray all = NewArray(jni_, "java/lang/Object", arrays_.size());
  for (size_t i = 0; all != nullptr && i < arrays_.size(); ++i) {
    jni_->SetObjectArrayElement(all, static_cast<jsize>(i), arrays_[i]);
  }
  return all;
}

void ThrowIllegalState(JNIEnv* jni, const std::string& why) {
  const jclass type = jni->FindClass("java/lang/IllegalStateException");
  if (type != nullptr) jni->ThrowNew(type, ("heaprec: " + why).c_str());
}

}  // namespace heaprec::agent
