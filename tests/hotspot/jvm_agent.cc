// Runs inside a real JVM: checks everything this room reads and writes there against what JVMTI says.
// Options: the file for the verdict: "OK ..." or "FAIL ..." lines, one per check. Churn.java runs until "cycles" is
// there.
#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recorder/arch/detour.h"
#include "recorder/hotspot/allocation/allocator_hooks.h"
#include "recorder/hotspot/jdk_rules.h"
#include "recorder/hotspot/libjvm.h"
#include "recorder/hotspot/metadata/jvmti_methods.h"
#include "recorder/hotspot/metadata/names.h"
#include "recorder/hotspot/threads/current_thread.h"
#include "recorder/hotspot/threads/safepoint.h"
#include "recorder/hotspot/threads/thread_layout.h"
#include "recorder/hotspot/vm_structs.h"
#include "tests/hotspot/live_cycles.h"

namespace {

using namespace heaprec::arch;     // NOLINT(google-build-using-namespace): one test program
using namespace heaprec::hotspot;  // NOLINT(google-build-using-namespace): one test program

using InNewTlab = void (*)(void* klass, void* object, size_t tlab, size_t size, void* thread);
using OutsideTlab = void (*)(void* klass, void* object, size_t size, void* thread);

enum class Mode { kIdle, kForce, kPoints };

struct State {
  jvmtiEnv* jvmti = nullptr;
  std::FILE* verdict = nullptr;
  std::unique_ptr<JvmtiMethods> methods;
  std::optional<Names> names;
  std::optional<ThreadLayout> layout;
  std::optional<ThreadOfEnv> thread_of;
  std::optional<LibJvm> libjvm;
  std::optional<SymbolTable> symbols;
  std::optional<Detour> refill;
  std::optional<Detour> outside;
  std::vector<Diverted> diverted;  // the two
  // Of the one thread that is observed; only that thread touches the rest.
  std::atomic<void*> observed{nullptr};
  Mode mode = Mode::kIdle;
  const void* hooked_klass = nullptr;
  const void* hooked_object = nullptr;
  bool hooked_outside = false;
  int hooks = 0, refills = 0, outsides = 0, events = 0, wrong = 0;
  int vtable_refills = 0, vtable_outsides = 0;
  int not_in_tlab = 0, odd_tlab_size = 0;
  uint64_t point = 0;  // in bytes of the thread's allocation
  uint64_t seed = 88172645463325252;
  int hits = 0, spurious = 0, late = 0;
};

State* state = nullptr;

uint64_t Random() {
  state->seed ^= state->seed << 13;
  state->seed ^= state->seed >> 7;
  return state->seed ^= state->seed << 17;
}

void Check(bool good, const std::string& what) {
  std::fprintf(state->verdict, "%s %s\n", good ? "OK" : "FAIL", what.c_str());
  std::fflush(state->verdict);
}

template <typename T>
bool Take(heaprec::Result<T> result, std::optional<T>* out, const char* what) {
  Check(result.ok(), std::string(what) + (result ? "" : ": " + result.error().message));
  if (result) out->emplace(std::move(*result));
  return result.ok();
}

void Hook(void* klass, void* object, size_t size, void* thread, bool outside) {
  State& s = *state;
  if (thread != s.observed.load(std::memory_order_relaxed) || s.mode == Mode::kIdle) return;
  ++s.hooks;
  outside ? ++s.outsides : ++s.refills;
  s.not_in_tlab += s.layout->InTlab(thread, object) == outside;
  s.hooked_klass = klass;
  s.hooked_object = object;
  s.hooked_outside = outside;
  if (s.mode == Mode::kForce) return s.layout->Force(thread);
  const uint64_t all = s.layout->AllocatedBytes(thread);
  s.late += s.point <= all - size;
  if (s.point <= all)
    s.layout->Force(thread);
  else
    s.layout->ArmInHook(thread, static_cast<double>(s.point - all), size, outside);
}

void OnRefill(void* klass, void* object, size_t tlab, size_t size, void* thread) {
  if (thread == state->observed.load(std::memory_order_relaxed) && state->mode != Mode::kIdle)
    state->odd_tlab_size += state->layout->TlabSize(thread) != tlab;
  Hook(klass, object, size, thread, false);
  state->refill->OriginalAs<InNewTlab>()(klass, object, tlab, size, thread);
}

void OnOutside(void* klass, void* object, size_t size, void* thread) {
  Hook(klass, object, size, thread, true);
  state->outside->OriginalAs<OutsideTlab>()(klass, object, size, thread);
}

void OnVtableRefill(void* thread, size_t) {
  if (thread == state->observed.load(std::memory_order_relaxed) && state->mode != Mode::kIdle) ++state->vtable_refills;
}

void OnVtableOutside(void* thread, size_t) {
  if (thread == state->observed.load(std::memory_order_relaxed) && state->mode != Mode::kIdle) ++state->vtable_outsides;
}

std::string InstallVtables(const void* thread) {
  const auto done =
      InstallAllocatorHooks(*state->libjvm, *state->symbols, *state->layout, thread, {OnVtableRefill, OnVtableOutside});
  return done ? "" : done.error().message;
}

std::string RemoveVtables() {
  const auto done = RemoveAllocatorHooks();
  return done ? "" : done.error().message;
}

void JNICALL SampledObjectAlloc(jvmtiEnv*, JNIEnv* jni, jthread, jobject, jclass type, jlong size) {
  State& s = *state;
  void* const thread = s.thread_of ? (*s.thread_of)(jni) : nullptr;
  if (thread == nullptr || thread != s.observed.load(std::memory_order_relaxed) || s.mode == Mode::kIdle) return;
  ++s.events;
  if (s.mode == Mode::kForce) {
    s.wrong += s.names->KlassOfMirror(jni, type) != s.hooked_klass;
    return s.layout->SetUnarmed(thread);
  }
  const uint64_t all = s.layout->AllocatedBytes(thread);
  const bool hit = s.point > all - static_cast<uint64_t>(size) && s.point <= all;
  hit ? ++s.hits : ++s.spurious;
  if (hit) s.point = all + 4 + Random() % 12500 * 8;  // as a real number: never at an object's edge
  s.layout->ArmInCallback(thread, static_cast<double>(s.point - all), hit && s.hooked_outside);
  s.hooked_outside = false;
}

void VerifyAllClasses(JNIEnv* jni) {
  jclass* classes = nullptr;
  jint count = 0;
  state->jvmti->GetLoadedClasses(&count, &classes);
  std::string problem;
  for (jint i = 0; i < count; ++i) {
    const auto same = VerifyClass(state->jvmti, jni, *state->names, classes[i]);
    if (!same && problem.empty()) problem = ": " + same.error().message;
    jni->DeleteLocalRef(classes[i]);
  }
  state->jvmti->Deallocate(reinterpret_cast<unsigned char*>(classes));
  Check(problem.empty() && count > 300, "names of " + std::to_string(count) + " classes" + problem);
  const auto quick = VerifyNames(state->jvmti, jni, *state->names);
  Check(quick.ok(), "the agent's own self-test" + (quick ? "" : ": " + quick.error().message));
}

void VerifyMirrors(JNIEnv* jni, bool checked_jni) {
  const jclass type = jni->FindClass("java/util/HashMap");
  const void* const klass = state->names->KlassOfMirror(jni, type);
  if (checked_jni)
    Check(klass == nullptr, "mirrors are left alone under -Xcheck:jni");
  else
    Check(state->names->KlassName(klass) == "java/util/HashMap", "the class behind a mirror");
}

jlong SizeOf(jobject object) {
  jlong size = 0;
  state->jvmti->GetObjectSize(object, &size);
  return size;
}

void VerifyAllocatedBytes(JNIEnv* jni, void* thread) {
  uint64_t differences = 0;
  for (int i = 0; i < 20000; ++i) {
    const jsize length = static_cast<jsize>(i % 1000 == 999 ? 3'000'000 : Random() % 2000);
    const uint64_t before = state->layout->AllocatedBytes(thread);
    const jbyteArray array = jni->NewByteArray(length);
    const uint64_t after = state->layout->AllocatedBytes(thread);
    differences += after - before != static_cast<uint64_t>(SizeOf(array));
    jni->DeleteLocalRef(array);
  }
  Check(differences == 0, "A moved by the size of the object in all but " + std::to_string(differences) + " of 20000");
}

void Allocate(JNIEnv* jni, int count) {
  for (int i = 0; i < count; ++i) {
    const jsize length = static_cast<jsize>(i % 500 == 499 ? 300'000 + Random() % 2'000'000 : Random() % 2000);
    jni->DeleteLocalRef(jni->NewByteArray(length));
  }
}

void VerifyForce(JNIEnv* jni, void* thread, bool checked_jni) {
  State& s = *state;
  s.layout->SetUnarmed(thread);  // the JVM drew a threshold of its own when the event was enabled
  const std::string installed = InstallVtables(thread);
  Check(installed.empty(), "the allocators' vtables are ours" + installed);
  Allocate(jni, 1);  // shows them what an allocator looks like, whatever its way
  s.mode = Mode::kForce;
  s.observed = thread;
  Allocate(jni, 100000);
  s.mode = Mode::kIdle;
  const std::string seen = std::to_string(s.refills) + " refills, " + std::to_string(s.outsides) + " outside, " +
                           std::to_string(s.events) + " events";
  Check(s.hooks > 100 && s.outsides > 50 && s.hooks == s.events, "a forced event for every hook: " + seen);
  Check(checked_jni || s.wrong == 0, "the event's class is the hook's: " + std::to_string(s.wrong) + " differ");
  Check(s.not_in_tlab == 0, "objects of refills lie in the TLAB: " + std::to_string(s.not_in_tlab) + " differ");
  Check(s.vtable_refills == s.refills && s.vtable_outsides == s.outsides,
        "the vtables report what the detours do: " + std::to_string(s.vtable_refills) + " refills, " +
            std::to_string(s.vtable_outsides) + " outside");
  Check(s.odd_tlab_size == 0, "the TLAB's size is the hook's: " + std::to_string(s.odd_tlab_size) + " differ");
}

void VerifyPoints(JNIEnv* jni, void* thread) {
  State& s = *state;
  s.hooked_outside = false;
  s.point = s.layout->AllocatedBytes(thread) + 5'000'004;  // far enough for a refill to arm it
  s.mode = Mode::kPoints;
  Allocate(jni, 200000);
  s.mode = Mode::kIdle;
  Check(s.hits > 1000 && s.spurious == 0 && s.late == 0, "points hit the very object: " + std::to_string(s.hits) +
                                                             " hits, " + std::to_string(s.spurious) + " spurious, " +
                                                             std::to_string(s.late) + " late");
  s.layout->SetUnarmed(thread);
}

void VerifyLiveCycles() {
  const int cycles = Cycles();
  const void* const thread = state->observed;
  const std::string problem = CycleSteps([&] { return InstallVtables(thread); }, RemoveVtables, cycles);
  Check(problem.empty(), "the vtables in and out of the running JVM: " + problem);
  const std::string found = CycleDetours(state->diverted, SafepointGrace(state->jvmti), cycles);
  Check(found.empty(), std::to_string(cycles) + " cycles of remove and install in the running JVM " + found);
}

void JNICALL LiveThread(jvmtiEnv*, JNIEnv*, void*) { VerifyLiveCycles(); }

void StartLiveThread(JNIEnv* jni) {
  const jclass type = jni->FindClass("java/lang/Thread");
  const jmethodID make = jni->GetMethodID(type, "<init>", "()V");
  const jobject thread = jni->NewObject(type, make);
  state->jvmti->RunAgentThread(thread, LiveThread, nullptr, JVMTI_THREAD_NORM_PRIORITY);
}

void JNICALL VMInit(jvmtiEnv* jvmti, JNIEnv* jni, jthread current) {
  State& s = *state;
  const auto structs = VmStructs::Load();
  const bool checked_jni = structs->BoolFlag("CheckJNICalls").value_or(false);
  if (!Take(ThreadOfEnv::Resolve(jni, current), &s.thread_of, "the thread of an environment")) return;
  void* const thread = (*s.thread_of)(jni);
  VerifyMirrors(jni, checked_jni);
  VerifyAllClasses(jni);
  VerifyAllocatedBytes(jni, thread);
  jvmti->SetHeapSamplingInterval(std::numeric_limits<jint>::max());
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, nullptr);
  VerifyForce(jni, thread, checked_jni);
  VerifyPoints(jni, thread);
  StartLiveThread(jni);
}

void JNICALL VMDeath(jvmtiEnv*, JNIEnv*) {
  bool own = state->refill->Remove().ok() && state->outside->Remove().ok();
  for (const Diverted& one : state->diverted) own = own && CodeAt(one.function) == one.own;
  Check(own && RemoveVtables().empty(), "the JVM ends with its own code in place");
}

bool InstallHooks() {
  if (!Take(LibJvm::Locate(), &state->libjvm, "libjvm") ||
      !Take(SymbolTable::Load(*state->libjvm), &state->symbols, "symbols"))
    return false;
  const auto refill = state->symbols->FindFirst(kInNewTlab);
  const auto outside = state->symbols->FindFirst(kOutsideTlab);
  Check(refill && outside, "symbols from " + state->symbols->origin());
  if (!refill || !outside) return false;
  if (!Take(Detour::Prepare(*refill, reinterpret_cast<const void*>(OnRefill)), &state->refill, "refill thunk") ||
      !Take(Detour::Prepare(*outside, reinterpret_cast<const void*>(OnOutside)), &state->outside, "outside thunk"))
    return false;
  state->diverted = {{&*state->refill, *refill, CodeAt(*refill)}, {&*state->outside, *outside, CodeAt(*outside)}};
  for (const Diverted& one : state->diverted) {
    const auto done = one.detour->Install();
    Check(done.ok(), "install" + (done ? "" : ": " + done.error().message));
  }
  return true;
}

bool ResolveLayout() {
  const auto structs = VmStructs::Load();
  if (!structs) return Check(false, structs.error().message), false;
  const auto version = JdkMajorVersion(state->jvmti, *structs);
  if (!version) return Check(false, version.error().message), false;
  const auto from_tables = JdkMajorVersion(nullptr, *structs);
  Check(from_tables && *from_tables == *version, "version " + std::to_string(*version));
  const auto watches = state->symbols->FindByPrefix(kFieldAccessCount);
  Check(watches.has_value(), "the counter of watched fields");
  return Take(ThreadLayout::Resolve(*structs, JdkRules::For(*version)), &state->layout, "thread layout") &&
         Take(Names::Resolve(*structs, JdkRules::For(*version), watches.value_or(0), state->methods.get()),
              &state->names, "names");
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  state = new State;
  state->verdict = std::fopen(options, "w");
  if (state->verdict == nullptr) return JNI_ERR;
  if (vm->GetEnv(reinterpret_cast<void**>(&state->jvmti), JVMTI_VERSION_11) != JNI_OK) return JNI_ERR;
  state->methods = std::make_unique<JvmtiMethods>(vm, state->jvmti);
  jvmtiCapabilities wanted = {};
  wanted.can_get_line_numbers = 1;
  wanted.can_generate_sampled_object_alloc_events = 1;
  state->jvmti->AddCapabilities(&wanted);
  if (!InstallHooks() || !ResolveLayout()) return JNI_OK;
  jvmtiEventCallbacks callbacks = {};
  callbacks.VMInit = VMInit;
  callbacks.VMDeath = VMDeath;
  callbacks.SampledObjectAlloc = SampledObjectAlloc;
  state->jvmti->SetEventCallbacks(&callbacks, sizeof callbacks);
  state->jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, nullptr);
  state->jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, nullptr);
  return JNI_OK;
}
