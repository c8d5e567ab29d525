#include "recorder/hotspot/metadata/jvmti_methods.h"

#include <algorithm>
#include <cstdint>
#include <new>

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

JvmtiMethods::JvmtiMethods(JavaVM* vm, jvmtiEnv* jvmti)
    : vm_(vm), jvmti_(jvmti), slots_(std::make_unique<std::atomic<Method*>[]>(kSlots)) {}

JvmtiMethods::~JvmtiMethods() {
  for (size_t slot = 0; slot < kSlots; ++slot) Free(slots_[slot].load(std::memory_order_relaxed));
}

const JvmtiMethods::Method* JvmtiMethods::Find(jmethodID id) {
  if (id == nullptr) return nullptr;
  Method* asked = nullptr;
  for (size_t slot = FirstSlot(id, kSlots);; slot = (slot + 1) % kSlots) {
    // Acquire: what it points to is whole (pairs with the release below).
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
  method->name = method->name_text;
  method->descriptor = method->descriptor_text;
  if (jvmti_->GetLineNumberTable(id, &method->line_count, &method->lines) != JVMTI_ERROR_NONE) method->line_count = 0;
  return method;
}

bool JvmtiMethods::AskClass(jmethodID id, Method* into) {
  jclass type = nullptr;
  if (jvmti_->GetMethodDeclaringClass(id, &type) != JVMTI_ERROR_NONE || type == nullptr) return false;
  const bool is_known = jvmti_->GetClassSignature(type, &into->class_text, nullptr) == JVMTI_ERROR_NONE;
  JNIEnv* jni = nullptr;
  if (vm_->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_1_6) == JNI_OK) jni->DeleteLocalRef(type);
  if (!is_known) return false;
  std::string_view name = into->class_text;
  if (name.size() > 2 && name.front() == 'L') name = name.substr(1, name.size() - 2);
  // The JVM's Symbol of a hidden class has a '+' there; '.' is in no other name.
  std::replace(into->class_text, into->class_text + std::char_traits<char>::length(into->class_text), '.', '+');
  into->class_name = name;
  return true;
}

void JvmtiMethods::Free(Method* method) {
  if (method == nullptr) return;
  jvmti_->Deallocate(Bytes(method->class_text));
  jvmti_->Deallocate(Bytes(method->name_text));
  jvmti_->Deallocate(Bytes(method->descriptor_text));
  jvmti_->Deallocate(Bytes(method->lines));
  jvmti_->Deallocate(Bytes(method));
}

// The entry of the bci itself, else the last one of the greatest bci below: the JVM's own rule.
int JvmtiMethods::Method::Line(jlocation bci) const {
  jlocation best = 0;
  int line = -1;
  for (jint i = 0; i < line_count; ++i) {
    if (lines[i].start_location == bci) return lines[i].line_number;
    if (lines[i].start_location < bci && lines[i].start_location >= best) {
      best = lines[i].start_location;
      line = lines[i].line_number;
    }
  }
  return line;
}

}  // namespace heaprec::hotspot
