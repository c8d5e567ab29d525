// Holds the sampling capability and does nothing with it: what a JVM costs where somebody samples, without what we add.
// Option: the sampling interval in bytes; 0 delivers every object, to an empty callback. Without one: the largest.
// Loaded while the JVM runs, the option "off" ends the events and prints how many there were.
#include <jvmti.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace {

void JNICALL OnSampled(jvmtiEnv* /*jvmti*/, JNIEnv* /*jni*/, jthread /*thread*/, jobject /*object*/, jclass /*klass*/,
                       jlong /*bytes*/) {}

std::atomic<long> events{0};

void JNICALL OnCounted(jvmtiEnv* /*jvmti*/, JNIEnv* /*jni*/, jthread /*thread*/, jobject /*object*/, jclass /*klass*/,
                       jlong /*bytes*/) {
  events.fetch_add(1, std::memory_order_relaxed);
}

jvmtiEnv* jvmti = nullptr;

jint Begin(JavaVM* vm, const char* options, jvmtiEventSampledObjectAlloc callback) {
  const bool given = options != nullptr && *options != '\0';
  const jint interval = given ? std::atoi(options) : std::numeric_limits<jint>::max();
  if (jvmti == nullptr && vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_11) != JNI_OK) return JNI_ERR;
  jvmtiCapabilities wanted{};
  wanted.can_generate_sampled_object_alloc_events = 1;
  jvmtiEventCallbacks callbacks{};
  callbacks.SampledObjectAlloc = callback;
  const bool held =
      jvmti->AddCapabilities(&wanted) == JVMTI_ERROR_NONE &&
      jvmti->SetEventCallbacks(&callbacks, sizeof callbacks) == JVMTI_ERROR_NONE &&
      jvmti->SetHeapSamplingInterval(interval) == JVMTI_ERROR_NONE &&
      jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, nullptr) == JVMTI_ERROR_NONE;
  return held ? JNI_OK : JNI_ERR;
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  return Begin(vm, options, OnSampled);
}

extern "C" JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM* vm, char* options, void*) {
  if (options == nullptr || std::strcmp(options, "off") != 0) return Begin(vm, options, OnCounted);
  (void)jvmti->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, nullptr);
  std::printf("events %ld\n", events.exchange(0));
  std::fflush(stdout);
  return JNI_OK;
}
