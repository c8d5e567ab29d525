#include "recorder/sources/sample/thread_fields.h"

#include <algorithm>

namespace heaprec::sources {
namespace {

// JNI 21 appended IsVirtualThread after GetModule; JDK 17's jni.h does not declare it.
constexpr int kIsVirtualThreadIndex = 234;
constexpr jint kFirstWithVirtualThreads = 0x00150000;
using IsVirtualThreadFunction = jboolean(JNICALL*)(JNIEnv*, jobject);

bool IsVirtual(JNIEnv* jni, jobject thread) {
  auto* table = *reinterpret_cast<void***>(jni);
  return reinterpret_cast<IsVirtualThreadFunction>(table[kIsVirtualThreadIndex])(jni, thread) == JNI_TRUE;
}

}  // namespace

format::Result<ThreadFields> ThreadFields::Resolve(JNIEnv* jni) {
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
  fields.has_virtual_threads_ = jni->GetVersion() >= kFirstWithVirtualThreads;
  return fields;
}

void ThreadFields::Read(JNIEnv* jni, jobject thread, ThreadIdentity* into) const {
  if (thread == nullptr) return;
  into->java_tid = static_cast<uint64_t>(jni->GetLongField(thread, tid_));
  into->is_virtual = has_virtual_threads_ && IsVirtual(jni, thread);
  auto* name = static_cast<jstring>(jni->GetObjectField(thread, name_));
  if (name == nullptr) return;
  // Modified UTF-8 needs up to 3 bytes a char, and GetStringUTFRegion adds a terminator.
  constexpr size_t kMaxChars = (sizeof(into->name) - kMaxLabelBytes - 1) / 3;
  const jsize chars = std::min<jsize>(jni->GetStringLength(name), kMaxChars);
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
