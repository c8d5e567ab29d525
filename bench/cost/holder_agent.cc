// Holds the sampling capability and does nothing with it: what a JVM costs where somebody samples, without what we add.
// Option: the sampling interval in bytes; 0 delivers every object, to an empty callback. Without one: the largest.
#include <jvmti.h>

#include <cstdlib>
#include <limits>

namespace {

void JNICALL OnSampled(jvmtiEnv* /*jvmti*/, JNIEnv* /*jni*/, jthread /*thread*/, jobject /*object*/, jclass /*klass*/,
                       jlong /*bytes*/) {}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  const bool given = options != nullptr && *options != '\0';
  const jint interval = given ? std::atoi(options) : std::numeric_limits<jint>::max();
  jvmtiEnv* jvmti = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_11) != JNI_OK) return JNI_ERR;
  jvmtiCapabilities wanted{};
  wanted.can_generate_sampled_object_alloc_events = 1;
  jvmtiEventCallbacks callbacks{};
  callbacks.SampledObjectAlloc = OnSampled;
  const bool held =
      jvmti->AddCapabilities(&wanted) == JVMTI_ERROR_NONE &&
      jvmti->SetEventCallbacks(&callbacks, sizeof callbacks) == JVMTI_ERROR_NONE &&
      jvmti->SetHeapSamplingInterval(interval) == JVMTI_ERROR_NONE &&
      jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, nullptr) == JVMTI_ERROR_NONE;
  return held ? JNI_OK : JNI_ERR;
}
