#include "recorder/hotspot/metadata/jvmti_methods.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

namespace heaprec::hotspot {
namespace {

size_t FirstSlot(jmethodID id, size_t slots) {
  const uint64_t mixed = reinterpret_cast<uintptr_t>(id) * 0x9e3779b97f4a7c15;
  return static_cast<size_t>(mixed >> 40) % slots;
}

template <typename T>
unsigned char* Bytes(T* pointer) {
  return reinterpret_cast<unsigned char*>(pointer);
}

}  // namespace

int LineAt(std::span<const jvmtiLineNumberEntry> table, jlocation bci) {
  jlocation best = 0;
  int line = -1;
  for (const jvmtiLineNumberEntry& entry : table) {
    if (entry.start_location == bci) return entry.line_number;
    if (entry.start_location < bci && entry.start_location >= best) {
      best = entry.start_location;
      line = entry.line_number;
    }
  }
  return line;
}

// The line table of one version of a method.
struct JvmtiMethods::Lines {
  jint version = 0;
  jint count = 0;
  jvmtiLineNumberEntry* entries = nullptr;
  Lines* older = nullptr;
};

struct JvmtiMethods::Method {
  jmethodID id = nullptr;
  Names names;
  char *class_text = nullptr, *name_text = nullptr, *descriptor_text = nullptr;
  jweak type = nullptr;
  std::atomic<Lines*> lines{nullptr};  // of the latest requested version; older ones follow
};

JvmtiMethods::JvmtiMethods(JavaVM* vm, jvmtiEnv* jvmti)
    : vm_(vm), jvmti_(jvmti), slots_(std::make_unique<std::atomic<Method*>[]>(kSlots)) {
  JNIEnv* const jni = Jni();
  const jclass type = jni != nullptr ? jni->FindClass("java/lang/Class") : nullptr;
  if (type == nullptr) return;
  redefinitions_ = jni->GetFieldID(type, "classRedefinedCount", "I");
  jni->ExceptionClear();
  jni->DeleteLocalRef(type);
}

JvmtiMethods::~JvmtiMethods() {
  for (size_t slot = 0; slot < kSlots; ++slot) Free(slots_[slot].load(std::memory_order_relaxed));
}

// Returns null on a thread that is not attached.
JNIEnv* JvmtiMethods::Jni() const {
  JNIEnv* jni = nullptr;
  return vm_->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_1_6) == JNI_OK ? jni : nullptr;
}

const JvmtiMethods::Names* JvmtiMethods::Find(jmethodID id) {
  const Method* const method = FindMethod(id);
  return method != nullptr ? &method->names : nullptr;
}

int JvmtiMethods::Line(jmethodID id, jlocation bci) {
  Method* const method = FindMethod(id);
  if (method == nullptr) return -1;
  JNIEnv* const jni = Jni();
  const bool is_counted = redefinitions_ != nullptr && method->type != nullptr && jni != nullptr;
  const jint version = is_counted ? jni->GetIntField(method->type, redefinitions_) : 0;
  // Acquire: the table is complete (pairs with the exchange in AskLines).
  const Lines* lines = method->lines.load(std::memory_order_acquire);
  if (lines == nullptr || lines->version != version) lines = AskLines(method, version);
  return lines != nullptr ? LineAt({lines->entries, static_cast<size_t>(lines->count)}, bci) : -1;
}

JvmtiMethods::Lines* JvmtiMethods::AskLines(Method* method, jint version) {
  unsigned char* memory = nullptr;
  if (tables_.load(std::memory_order_relaxed) >= kMaxMethods ||
      jvmti_->Allocate(sizeof(Lines), &memory) != JVMTI_ERROR_NONE) {
    return nullptr;
  }
  tables_.fetch_add(1, std::memory_order_relaxed);
  auto* const lines = new (memory) Lines{.version = version};
  if (jvmti_->GetLineNumberTable(method->id, &lines->count, &lines->entries) != JVMTI_ERROR_NONE) lines->count = 0;
  lines->older = method->lines.load(std::memory_order_relaxed);
  while (!method->lines.compare_exchange_weak(lines->older, lines, std::memory_order_acq_rel)) {
  }
  return lines;
}

JvmtiMethods::Method* JvmtiMethods::FindMethod(jmethodID id) {
  if (id == nullptr) return nullptr;
  Method* asked = nullptr;
  for (size_t slot = FirstSlot(id, kSlots);; slot = (slot + 1) % kSlots) {
    // Acquire: the method is complete (pairs with the release below).
    Method* known = slots_[slot].load(std::memory_order_acquire);
    if (known == nullptr) {
      if (asked == nullptr) {
        if (count_.load(std::memory_order_relaxed) >= kMaxMethods) return nullptr;
        asked = Ask(id);
        if (asked == nullptr) return nullptr;
      }
      if (slots_[slot].compare_exchange_strong(known, asked, std::memory_order_acq_rel)) {
        count_.fetch_add(1, std::memory_order_relaxed);
        return asked;
      }
    }
    if (known->id != id) continue;
    Free(asked);  // another thread was faster
    return known;
  }
}

JvmtiMethods::Method* JvmtiMethods::Ask(jmethodID id) {
  unsigned char* memory = nullptr;
  if (jvmti_->Allocate(sizeof(Method), &memory) != JVMTI_ERROR_NONE) return nullptr;
  auto* const method = new (memory) Method;
  method->id = id;
  if (!AskClass(id, method) ||
      jvmti_->GetMethodName(id, &method->name_text, &method->descriptor_text, nullptr) != JVMTI_ERROR_NONE) {
    Free(method);
    return nullptr;
  }
  method->names.name = method->name_text;
  method->names.descriptor = method->descriptor_text;
  return method;
}

bool JvmtiMethods::AskClass(jmethodID id, Method* into) {
  jclass type = nullptr;
  if (jvmti_->GetMethodDeclaringClass(id, &type) != JVMTI_ERROR_NONE || type == nullptr) return false;
  const bool is_known = jvmti_->GetClassSignature(type, &into->class_text, nullptr) == JVMTI_ERROR_NONE;
  if (JNIEnv* const jni = Jni()) {
    if (redefinitions_ != nullptr) into->type = jni->NewWeakGlobalRef(type);
    jni->DeleteLocalRef(type);
  }
  if (!is_known) return false;
  std::string_view name = into->class_text;
  if (name.size() > 2 && name.front() == 'L') name = name.substr(1, name.size() - 2);
  // In the JVM's Symbol a hidden class has '+' where JVMTI has '.'; other names contain no '.'.
  std::replace(into->class_text, into->class_text + std::char_traits<char>::length(into->class_text), '.', '+');
  into->names.class_name = name;
  return true;
}

void JvmtiMethods::Free(Method* method) {
  if (method == nullptr) return;
  jvmti_->Deallocate(Bytes(method->class_text));
  jvmti_->Deallocate(Bytes(method->name_text));
  jvmti_->Deallocate(Bytes(method->descriptor_text));
  JNIEnv* const jni = Jni();
  if (method->type != nullptr && jni != nullptr) jni->DeleteWeakGlobalRef(method->type);
  for (Lines* lines = method->lines.load(std::memory_order_relaxed); lines != nullptr;) {
    Lines* const freed = std::exchange(lines, lines->older);
    jvmti_->Deallocate(Bytes(freed->entries));
    jvmti_->Deallocate(Bytes(freed));
  }
  jvmti_->Deallocate(Bytes(method));
}

}  // namespace heaprec::hotspot
