// An agent of somebody else, which samples through include/heaprec_sampling.h and tells at the JVM's end what it got.
//
// Its options: path of libheaprec.so, ':', bytes between samples, ':', most objects tracked.
#include <jvmti.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "include/heaprec_sampling.h"

namespace {

JavaVM* java_vm = nullptr;
void* library = nullptr;
heaprec_sampling how{sizeof(how), nullptr, nullptr, 0, 16, 0};

// What came, of the program's own arrays and of all.
std::atomic<int> samples{0}, early{0}, late{0}, kept{0}, dropped{0}, without_stack{0}, without_code{0}, replaced{0},
    before_replaced{0};

// Whether the object is an array that the test program allocates. Without compressed class pointers its header has 8
// bytes more.
bool IsTestArray(const heaprec_trace& trace, const char* signature) {
  return (trace.byte_size == 100'000 || trace.byte_size == 100'008) && strcmp(trace.class_signature, signature) == 0;
}

int64_t OnSample(heaprec_trace* trace, const heaprec_callback_env* env, void* user) {
  const int64_t interval = how.first_interval;
  ++samples;
  // The object holds the byte that is `interval` from the last.
  if (trace->bytes < interval) ++early;
  if (trace->bytes - trace->byte_size >= interval) ++late;
  if (IsTestArray(*trace, "[B")) ++kept;
  if (IsTestArray(*trace, "[I")) ++dropped;
  if (trace->frame_count == 0) ++without_stack;
  if (trace->code == HEAPREC_CODE_UNKNOWN) ++without_code;
  // JNI is legal, and what is allocated here is not sampled.
  auto* const jni = static_cast<JNIEnv*>(env->jni);
  jni->DeleteLocalRef(jni->NewByteArray(1 << 20));
  trace->context = user;
  return interval;
}

int64_t OnReplaced(heaprec_trace* trace, const heaprec_callback_env*, void* user) {
  ++replaced;
  trace->context = user;
  return 0;
}

struct Count {
  int kept = 0, dropped = 0, others = 0, without_context = 0, bad_times = 0;
  bool dead = false;
};

bool HasTimes(const heaprec_trace& trace, bool dead) {
  return trace.born_ns > 0 && (dead ? trace.dead_ns > trace.born_ns : trace.dead_ns == 0);
}

void OnTrace(const heaprec_trace* trace, void* user) {
  Count& count = *static_cast<Count*>(user);
  (IsTestArray(*trace, "[B") ? count.kept : IsTestArray(*trace, "[I") ? count.dropped : count.others) += 1;
  if (trace->context != &how) ++count.without_context;
  if (!HasTimes(*trace, count.dead)) ++count.bad_times;
}

void Tell(JNIEnv* jni, const char* name, int which) {
  Count count;
  count.dead = which != HEAPREC_LIVE;
  const int64_t traces = heaprec_traces(library, jni, which, OnTrace, &count);
  printf("%s %lld kept %d dropped %d without_context %d bad_times %d\n", name, static_cast<long long>(traces),
         count.kept, count.dropped, count.without_context, count.bad_times);
}

void JNICALL OnVmInit(jvmtiEnv*, JNIEnv*, jthread) {
  printf("invalid %d\n", [] {
    heaprec_sampling bad = how;
    bad.depth = 0;
    return heaprec_sample(library, java_vm, &bad);
  }());
  printf("started %d\n", heaprec_sample(library, java_vm, &how));
  fflush(stdout);
}

// The program's second thread has ended: what the first allocates from now on is for another function.
void JNICALL OnThreadEnd(jvmtiEnv* jvmti, JNIEnv*, jthread thread) {
  jvmtiThreadInfo info{};
  if (jvmti->GetThreadInfo(thread, &info) != JVMTI_ERROR_NONE || strcmp(info.name, "other") != 0) return;
  heaprec_sampling other = how;
  other.function = OnReplaced;
  printf("replaced %d\n", heaprec_sample(library, java_vm, &other));
  before_replaced = samples.load();
}

void JNICALL OnVmDeath(jvmtiEnv*, JNIEnv* jni) {
  printf("samples %d early %d late %d kept %d dropped %d without_stack %d without_code %d\n", samples.load(),
         early.load(), late.load(), kept.load(), dropped.load(), without_stack.load(), without_code.load());
  Tell(jni, "live", HEAPREC_LIVE);
  Tell(jni, "recent", HEAPREC_RECENT_GARBAGE);
  Tell(jni, "sampled", HEAPREC_SAMPLED_GARBAGE);
  heaprec_sampling none = how;
  none.function = nullptr;
  printf("stopped %d, since replaced: old %d new %d\n", heaprec_sample(library, java_vm, &none),
         samples.load() - before_replaced.load(), replaced.load());
  Tell(jni, "live", HEAPREC_LIVE);
  fflush(stdout);
}

}  // namespace

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  java_vm = vm;
  const std::string text = options;
  const size_t first = text.find(':'), second = text.find(':', first + 1);
  library = heaprec_load(text.substr(0, first).c_str());
  if (library == nullptr) return fprintf(stderr, "%s\n", dlerror()), JNI_ERR;
  how.function = OnSample;
  how.user = &how;
  how.first_interval = atoll(text.c_str() + first + 1);
  how.tracked = atoi(text.c_str() + second + 1);
  jvmtiEnv* jvmti = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_11) != JNI_OK) return JNI_ERR;
  jvmtiEventCallbacks callbacks{};
  callbacks.VMInit = OnVmInit;
  callbacks.VMDeath = OnVmDeath;
  callbacks.ThreadEnd = OnThreadEnd;
  jvmti->SetEventCallbacks(&callbacks, sizeof(callbacks));
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, nullptr);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, nullptr);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_THREAD_END, nullptr);
  return JNI_OK;
}
