#include "recorder/hotspot/usage/buffer_pools.h"

#include <dlfcn.h>

#include <initializer_list>

#include "recorder/hotspot/libjvm.h"

namespace heaprec::hotspot {
namespace {

using format::AccountItem;
using format::Amount;

Amount Counted(jlong value) { return value >= 0 ? Amount::Of(static_cast<uint64_t>(value)) : Amount::NotKnown(); }

// The first spelling that exists.
jfieldID StaticField(JNIEnv* jni, jclass of, std::initializer_list<const char*> names, const char* type) {
  for (const char* name : names) {
    if (const jfieldID field = jni->GetStaticFieldID(of, name, type)) return field;
    jni->ExceptionClear();
  }
  return nullptr;
}

jobject GlobalOf(JNIEnv* jni, jobject local) {
  const jobject global = local != nullptr ? jni->NewGlobalRef(local) : nullptr;
  jni->DeleteLocalRef(local);
  return global;
}

}  // namespace

BufferPools BufferPools::Find(jvmtiEnv* jvmti, JNIEnv* jni) {
  BufferPools pools;
  if (jni == nullptr) return pools;
  pools.jvmti_ = jvmti;
  for (Holder* holder : {&pools.bits_, &pools.mappings_}) {
    holder->text = static_cast<jstring>(GlobalOf(jni, jni->NewStringUTF(holder->name)));
    jni->ExceptionClear();  // no memory
  }
  const auto libjvm = LibJvm::Locate();
  void* const library = libjvm.ok() ? dlopen(libjvm->path.c_str(), RTLD_NOW | RTLD_NOLOAD) : nullptr;
  if (library == nullptr) return pools;
  pools.find_ = reinterpret_cast<FindLoadedClass>(dlsym(library, "JVM_FindLoadedClass"));
  dlclose(library);  // the JVM keeps its own reference
  return pools;
}

// Null: not yet.
jclass BufferPools::Initialised(JNIEnv* jni, Holder* holder) {
  if (holder->found != nullptr || holder->is_given_up || find_ == nullptr) return holder->found;
  const auto loaded = holder->text != nullptr ? find_(jni, nullptr, holder->text) : nullptr;
  if (jni->ExceptionCheck() != JNI_FALSE || loaded == nullptr) {
    jni->ExceptionClear();
    return nullptr;
  }
  jint status = 0;
  const bool is_ready =
      jvmti_->GetClassStatus(loaded, &status) == JVMTI_ERROR_NONE && (status & JVMTI_CLASS_STATUS_INITIALIZED) != 0;
  if (!is_ready) {
    jni->DeleteLocalRef(loaded);
    return nullptr;
  }
  holder->found = static_cast<jclass>(GlobalOf(jni, loaded));
  return holder->found;
}

void BufferPools::Release(JNIEnv* jni) {
  for (Holder* holder : {&bits_, &mappings_}) {
    jni->DeleteGlobalRef(holder->text);
    jni->DeleteGlobalRef(holder->found);
  }
  jni->DeleteGlobalRef(reserved_);
  jni->DeleteGlobalRef(direct_count_);
  *this = BufferPools();
}

void BufferPools::TakeDirect(JNIEnv* jni) {
  constexpr const char* kAtomic = "Ljava/util/concurrent/atomic/AtomicLong;";
  const jclass bits = bits_.found;
  limit_ = StaticField(jni, bits, {"MAX_MEMORY", "maxMemory"}, "J");
  const jfieldID reserved = StaticField(jni, bits, {"RESERVED_MEMORY", "reservedMemory"}, kAtomic);
  const jfieldID count = StaticField(jni, bits, {"COUNT", "count"}, kAtomic);
  if (reserved == nullptr || count == nullptr) return;
  const jobject sum = jni->GetStaticObjectField(bits, reserved);
  const jclass atomic = sum != nullptr ? jni->GetObjectClass(sum) : nullptr;
  value_ = atomic != nullptr ? jni->GetFieldID(atomic, "value", "J") : nullptr;
  jni->ExceptionClear();
  jni->DeleteLocalRef(atomic);
  reserved_ = GlobalOf(jni, sum);
  direct_count_ = GlobalOf(jni, jni->GetStaticObjectField(bits, count));
}

void BufferPools::TakeMapped(JNIEnv* jni) {
  mapped_bytes_ = StaticField(jni, mappings_.found, {"totalSize"}, "J");
  mapped_count_ = StaticField(jni, mappings_.found, {"count"}, "I");
}

void BufferPools::Read(JNIEnv* jni, format::ProcessAccount* account) {
  if (Initialised(jni, &bits_) != nullptr) {
    if (!bits_.is_given_up && reserved_ == nullptr) {
      TakeDirect(jni);
      bits_.is_given_up = reserved_ == nullptr || direct_count_ == nullptr || value_ == nullptr;
    }
    if (!bits_.is_given_up) {
      account->Set(AccountItem::kDirectUsed, Counted(jni->GetLongField(reserved_, value_)));
      account->Set(AccountItem::kDirectBuffers, Counted(jni->GetLongField(direct_count_, value_)));
    }
    if (limit_ != nullptr) account->Set(AccountItem::kDirectMax, Counted(jni->GetStaticLongField(bits_.found, limit_)));
  }
  if (Initialised(jni, &mappings_) != nullptr) {
    if (mapped_bytes_ == nullptr && !mappings_.is_given_up) {
      TakeMapped(jni);
      mappings_.is_given_up = mapped_bytes_ == nullptr || mapped_count_ == nullptr;
    }
    if (!mappings_.is_given_up) {
      account->Set(AccountItem::kMappedUsed, Counted(jni->GetStaticLongField(mappings_.found, mapped_bytes_)));
      account->Set(AccountItem::kMappedBuffers, Counted(jni->GetStaticIntField(mappings_.found, mapped_count_)));
    }
  }
}

}  // namespace heaprec::hotspot
