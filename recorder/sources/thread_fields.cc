#include "recorder/sources/thread_fields.h"

#include <algorithm>

namespace heaprec::sources {
namespace {

// JNI 21 appended IsVirtualThread after GetModule; JDK 17's jni.h does not declare it.
constexpr int kIsVirtualThreadIndex = 234;
using IsVirtualThreadFunction = jboolean(JNICALL*)(JNIEnv*, jobject);

bool IsVirtual(JNIEnv* jni, jobject thread) {
  auto* table = *reinterpret_cast<void***>(jni);
  return reinterpret_cast<IsVirtualThreadFunction>(table[kIsVirtualThreadIndex])(jni, thread) == JNI_TRUE;
}

}  // namespace

format::Result<ThreadFields> ThreadFields::Resolve(JNIEnv* jni, int jdk_major) {
  ThreadFields fields;
  jclass thread_class = jni->FindClass("java/lang/Thread");
  if (thread_class != nullptr) {
    fields.name_ = jni->GetFieldID(thread_class, "name", "Ljava/lang/String;");
    fields.tid_ = fields.name_ != nullptr ? jni->GetFieldID(thread_class, "tid", "J") : nullptr;
    jni->DeleteLocalRef(thread_class);
  }
  if (fields.tid_ == nullptr) {
    jni->ExceptionClear();
    return format::Error{"java.lang.Thread has no fields `name` and `tid`"};
  }
  fields.has_virtual_threads_ = jdk_major >= 21;
  return fields;
}

void ThreadFields::Read(JNIEnv* jni, jobject thread, ThreadIdentity* into) const {
  if (thread == nullptr) return;
  into->java_tid = static_cast<uint64_t>(jni->GetLongField(thread, tid_));
  into->is_virtual = has_virtual_threads_ && IsVirtual(jni, thread);
  auto* name = static_cast<jstring>(jni->GetObjectField(thread, name_));
  if (name == nullptr) return;
  // Modified UTF-8 needs up to 3 bytes a char, and GetStringUTFRegion adds a terminator.
  constexpr size_t kMostChars = (sizeof(into->name) - kMostLabelBytes - 1) / 3;
  const jsize chars = std::min<jsize>(jni->GetStringLength(name), kMostChars);
  into->name[0] = '\0';
  jni->GetStringUTFRegion(name, 0, chars, into->name);
  into->name_bytes = std::char_traits<char>::length(into->name);
  jni->DeleteLocalRef(name);
  if (into->is_virtual) return;  // the labels are the carrier's
  const std::string_view labels = CurrentLabels();
  labels.copy(into->name + into->name_bytes, labels.size());
  into->name_bytes += labels.size();
}

}  // namespace heaprec::sources
