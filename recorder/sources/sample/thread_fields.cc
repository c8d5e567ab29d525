#include "recorder/sources/sample/thread_fields.h"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace heaprec::sources {
namespace {

struct Labels {
  size_t size = 0;
  char text[kMaxLabelBytes];
  std::string_view View() const { return {text, size}; }
};

// Initial-exec: the first access may be inside an allocation, and must not allocate.
__attribute__((tls_model("initial-exec"))) thread_local Labels* own = nullptr;

// Returns the label with this key, including its zero byte; empty, at the end, if there is none.
std::string_view Find(std::string_view labels, std::string_view key) {
  for (size_t at = 0; at < labels.size();) {
    const size_t end = std::min(labels.find('\0', at + 1), labels.size());
    const std::string_view label = labels.substr(at, end - at);
    if (label.substr(1).starts_with(key) && label.substr(1 + key.size()).starts_with('=')) return label;
    at = end;
  }
  return labels.substr(labels.size());
}

void Remove(std::string_view label) {
  const auto at = static_cast<size_t>(label.data() - own->text);
  own->size -= label.size();
  std::memmove(own->text + at, own->text + at + label.size(), own->size - at);
}

void Append(char next) { own->text[own->size++] = next; }
void Append(std::string_view text) {
  std::memcpy(own->text + own->size, text.data(), text.size());
  own->size += text.size();
}

// Frees the labels of a thread that ends. Before the first recording the JVM does not report ThreadEnd.
const pthread_key_t* Key() {
  static pthread_key_t key;
  static const bool is_made = pthread_key_create(&key, [](void* labels) {
                                own = nullptr;
                                std::free(labels);
                              }) == 0;
  return is_made ? &key : nullptr;
}

bool Make() {
  if (own != nullptr) return true;
  const pthread_key_t* const key = Key();
  void* const room = key != nullptr ? std::malloc(sizeof(Labels)) : nullptr;
  if (room == nullptr) return false;
  if (pthread_setspecific(*key, room) != 0) {
    std::free(room);
    return false;
  }
  own = new (room) Labels;
  return true;
}

// JNI 21 appended IsVirtualThread after GetModule; JDK 17's jni.h does not declare it.
constexpr int kIsVirtualThreadIndex = 234;
constexpr jint kFirstWithVirtualThreads = 0x00150000;
using IsVirtualThreadFunction = jboolean(JNICALL*)(JNIEnv*, jobject);

bool IsVirtual(JNIEnv* jni, jobject thread) {
  auto* table = *reinterpret_cast<void***>(jni);
  return reinterpret_cast<IsVirtualThreadFunction>(table[kIsVirtualThreadIndex])(jni, thread) == JNI_TRUE;
}

}  // namespace

bool SetLabel(std::string_view key, std::string_view value) {
  constexpr std::string_view kNotInKeys("=\0", 2);
  if (key.empty() || key.find_first_of(kNotInKeys) != std::string_view::npos || value.find('\0') != value.npos) {
    return false;
  }
  if (!Make()) return false;
  const std::string_view before = Find(own->View(), key);
  if (own->size - before.size() + key.size() + value.size() + 2 > kMaxLabelBytes) return false;
  Remove(before);
  Append('\0');
  Append(key);
  Append('=');
  Append(value);
  return true;
}

void ClearLabel(std::string_view key) {
  if (own != nullptr) Remove(Find(own->View(), key));
}

void ForgetLabels() {
  if (own == nullptr) return;
  pthread_setspecific(*Key(), nullptr);
  std::free(own);
  own = nullptr;
}

std::string_view CurrentLabels() { return own != nullptr ? own->View() : std::string_view(); }

Result<ThreadFields> ThreadFields::Resolve(JNIEnv* jni) {
  ThreadFields fields;
  jclass thread_class = jni->FindClass("java/lang/Thread");
  if (thread_class != nullptr) {
    fields.name_ = jni->GetFieldID(thread_class, "name", "Ljava/lang/String;");
    fields.tid_ = fields.name_ != nullptr ? jni->GetFieldID(thread_class, "tid", "J") : nullptr;
    jni->DeleteLocalRef(thread_class);
  }
  if (fields.tid_ == nullptr) {
    jni->ExceptionClear();
    return Error{"java.lang.Thread has no fields `name` and `tid`"};
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
  if (into->is_virtual) return;  // the labels belong to the carrier
  const std::string_view labels = CurrentLabels();
  labels.copy(into->name + into->name_bytes, labels.size());
  into->name_bytes += labels.size();
}

}  // namespace heaprec::sources
