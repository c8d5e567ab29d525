#include "recorder/agent/api/java_arrays.h"

#include <algorithm>

namespace heaprec::agent {
namespace {

// Null: no memory; an exception is pending then, so no other JNI function may be called.
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

JavaArrays& JavaArrays::Add(const std::vector<jint>& values) {
  const auto size = static_cast<jsize>(values.size());
  const jintArray array = jni_->ExceptionCheck() == JNI_TRUE ? nullptr : jni_->NewIntArray(size);
  if (array != nullptr) jni_->SetIntArrayRegion(array, 0, size, values.data());
  arrays_.push_back(array);
  return *this;
}

JavaArrays& JavaArrays::Add(const std::vector<jlong>& values) {
  const auto size = static_cast<jsize>(values.size());
  const jlongArray array = jni_->ExceptionCheck() == JNI_TRUE ? nullptr : jni_->NewLongArray(size);
  if (array != nullptr) jni_->SetLongArrayRegion(array, 0, size, values.data());
  arrays_.push_back(array);
  return *this;
}

JavaArrays& JavaArrays::Add(const std::vector<jdouble>& values) {
  const auto size = static_cast<jsize>(values.size());
  const jdoubleArray array = jni_->ExceptionCheck() == JNI_TRUE ? nullptr : jni_->NewDoubleArray(size);
  if (array != nullptr) jni_->SetDoubleArrayRegion(array, 0, size, values.data());
  arrays_.push_back(array);
  return *this;
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
