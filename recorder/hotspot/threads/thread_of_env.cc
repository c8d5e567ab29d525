#include "recorder/hotspot/threads/thread_of_env.h"

namespace heaprec::hotspot {
namespace {

// Returns the carrier of a virtual thread, which stays the same while a native method runs; null: not a virtual thread.
jobject CarrierOf(JNIEnv* jni, jobject current) {
  const jclass type = jni->GetObjectClass(current);
  const jfieldID field = jni->GetFieldID(type, "carrierThread", "Ljava/lang/Thread;");
  jni->DeleteLocalRef(type);
  if (field != nullptr) return jni->GetObjectField(current, field);
  jni->ExceptionClear();
  return nullptr;
}

}  // namespace

format::Result<ThreadOfEnv> ThreadOfEnv::Resolve(JNIEnv* jni, jobject current) {
  const jclass type = jni->FindClass("java/lang/Thread");
  const jfieldID field = type != nullptr ? jni->GetFieldID(type, "eetop", "J") : nullptr;
  if (field == nullptr) {
    jni->ExceptionClear();
    return format::Error{"java.lang.Thread has no field eetop"};
  }
  jni->DeleteLocalRef(type);
  auto thread = static_cast<uintptr_t>(jni->GetLongField(current, field));
  if (thread == 0) {
    const jobject carrier = CarrierOf(jni, current);
    if (carrier != nullptr) thread = static_cast<uintptr_t>(jni->GetLongField(carrier, field));
    jni->DeleteLocalRef(carrier);
  }
  const auto environment = reinterpret_cast<uintptr_t>(jni);
  // A JavaThread is 1.4 to 2.5 KiB on 11 to 25.
  constexpr uintptr_t kLargestThread = 64 * 1024;
  if (thread == 0 || environment <= thread || environment - thread > kLargestThread)
    return format::Error{"the JNI environment is not a part of its JavaThread"};
  ThreadOfEnv out;
  out.eetop_ = field;
  out.distance_ = environment - thread;
  return out;
}

}  // namespace heaprec::hotspot
