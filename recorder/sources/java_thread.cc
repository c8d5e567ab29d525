#include "recorder/sources/java_thread.h"

namespace heaprec::sources {
namespace {
// A JavaThread is a few KiB: a larger distance means that eetop is not what it was.
constexpr ptrdiff_t kLargest = 64 * 1024;
}  // namespace

format::Result<JavaThreadLocator> JavaThreadLocator::Resolve(JNIEnv* jni, jobject current) {
  jclass type = jni->FindClass("java/lang/Thread");
  const jfieldID eetop = type != nullptr ? jni->GetFieldID(type, "eetop", "J") : nullptr;
  if (type != nullptr) jni->DeleteLocalRef(type);
  if (eetop == nullptr) {
    jni->ExceptionClear();
    return format::Error{"java.lang.Thread has no field `eetop`"};
  }
  JavaThreadLocator locator;
  locator.offset_ = reinterpret_cast<char*>(jni) - reinterpret_cast<char*>(jni->GetLongField(current, eetop));
  if (locator.offset_ <= 0 || locator.offset_ > kLargest) {
    return format::Error{"the JNI environment does not lie in its JavaThread"};
  }
  return locator;
}

}  // namespace heaprec::sources
