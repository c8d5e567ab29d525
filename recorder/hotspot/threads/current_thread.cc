#include "recorder/hotspot/threads/current_thread.h"

#include <limits.h>

#include <algorithm>
#include <map>
#include <optional>

#include "recorder/hotspot/memory.h"

namespace heaprec::hotspot {
namespace {

// Most threads have this class; threads of the JVM that also run Java have derived classes. Returns 0 if unknown.
uintptr_t FunctionsOfMost(std::span<void* const> threads) {
  std::map<uintptr_t, size_t> counts;
  const SafeReader reader = SafeReader::Probe();
  for (const void* thread : threads) {
    if (const auto functions = reader.Word(thread)) ++counts[*functions];
  }
  const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  return most != counts.end() && 2 * most->second > threads.size() ? most->first : 0;
}

// Returns the carrier of a virtual thread, which does not change while a native method runs; null: not a virtual
// thread.
jobject CarrierOf(JNIEnv* jni, jobject current) {
  const jclass type = jni->GetObjectClass(current);
  const jfieldID field = jni->GetFieldID(type, "carrierThread", "Ljava/lang/Thread;");
  jni->DeleteLocalRef(type);
  if (field != nullptr) return jni->GetObjectField(current, field);
  jni->ExceptionClear();
  return nullptr;
}

}  // namespace

Result<CurrentThread> CurrentThread::Resolve(const void* java_thread, std::span<void* const> all) {
  const uintptr_t functions = FunctionsOfMost(all);
  if (functions == 0) return Error{"the class of JavaThreads is not known"};
  std::optional<pthread_key_t> key;
  for (pthread_key_t candidate = 0; candidate < PTHREAD_KEYS_MAX; ++candidate) {
    if (pthread_getspecific(candidate) != java_thread) continue;
    if (key) return Error{"several keys have the JavaThread"};
    key = candidate;
  }
  if (!key) return Error{"no key has the JavaThread"};
  return CurrentThread(*key, functions);
}

Result<ThreadOfEnv> ThreadOfEnv::Resolve(JNIEnv* jni, jobject current) {
  const jclass type = jni->FindClass("java/lang/Thread");
  const jfieldID field = type != nullptr ? jni->GetFieldID(type, "eetop", "J") : nullptr;
  if (field == nullptr) {
    jni->ExceptionClear();
    return Error{"java.lang.Thread has no field eetop"};
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
    return Error{"the JNI environment is not a part of its JavaThread"};
  ThreadOfEnv out;
  out.eetop_ = field;
  out.distance_ = environment - thread;
  return out;
}

}  // namespace heaprec::hotspot
