#include "recorder/hotspot/threads/thread_of_env.h"

namespace heaprec::hotspot {

format::Result<ThreadOfEnv> ThreadOfEnv::Resolve(JNIEnv* jni, jobject current) {
  const jclass type = jni->FindClass("java/lang/Thread");
  const jfieldID field = type != nullptr ? jni->GetFieldID(type, "eetop", "J") : nullptr;
  if (field == nullptr) {
    jni->ExceptionClear();
    return format::Error{"java.lang.Thread has no field eetop"};
  }
  const auto thread = static_cast<uintptr_t>(jni->GetLongField(current, field));
  jni->DeleteLocalRef(type);
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
