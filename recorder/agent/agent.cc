#include "recorder/agent/agent.h"

#include <fmt/format.h>
#include <pthread.h>

#include <chrono>
#include <cstdlib>
#include <limits>
#include <utility>

#include "recorder/agent/events.h"
#include "recorder/agent/hooks.h"
#include "recorder/agent/log.h"
#include "recorder/agent/self_test.h"
#include "recorder/sources/entry.h"
#include "recorder/writer/quiet_thread.h"

namespace heaprec::agent {
namespace {

// source=hooks: our thresholds override the JVM's at every touch. Where the JVM drops an event, its own draw bounds the
// stretch in which the thread is not armed: 16 KiB costs nothing else.
constexpr jint kJvmIntervalUnderHooks = 16 << 10;
constexpr jint kJvmIntervalNever = std::numeric_limits<jint>::max();

// Nothing thrown may reach the JVM. What throws is the allocation of memory: there is then no recording.
template <typename Call>
auto WithoutThrowing(const Call& call, decltype(call()) otherwise) -> decltype(call()) {
  try {
    return call();
  } catch (...) {
    sources::active_source.store(nullptr, std::memory_order_release);
    return otherwise;
  }
}

void JNICALL OnVmInitEvent(jvmtiEnv*, JNIEnv* jni, jthread) {
  WithoutThrowing([jni] { return Agent::Instance().OnVmInit(jni), true; }, false);
}

void JNICALL OnVmDeathEvent(jvmtiEnv*, JNIEnv*) {
  WithoutThrowing([] { return Agent::Instance().OnVmDeath(), true; }, false);
}

void JNICALL OnThreadStart(jvmtiEnv*, JNIEnv* jni, jthread) {
  sources::ThreadTable::Instance().Forget();
  sources::Source* source = sources::active_source.load(std::memory_order_acquire);
  if (source != nullptr) source->OnThreadStart(Agent::Instance().jvm()->thread_of(jni));
}

void JNICALL OnThreadEnd(jvmtiEnv*, JNIEnv* jni, jthread) {
  void* const java_thread = Agent::Instance().jvm()->thread_of(jni);
  sources::Source* source = sources::active_source.load(std::memory_order_acquire);
  if (source != nullptr) source->OnThreadEnd(java_thread);
  sources::ThreadTable::Instance().Release(java_thread);
}

void JNICALL OnSampledObjectAlloc(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jobject object, jclass object_class,
                                  jlong size) {
  const sources::Delivered delivered{
      jvmti, jni, Agent::Instance().jvm()->thread_of(jni), thread, object, object_class, static_cast<uint64_t>(size)};
  heaprec_on_delivered(&delivered);
}

}  // namespace

Agent& Agent::Instance() {
  static Agent* const agent = new Agent;  // never destroyed: events may come until the process is gone
  return *agent;
}

jint Agent::OnLoad(JavaVM* vm, const char* text) {
  if (jvmti_ != nullptr)
    return Fail("the agent is loaded already, with options " + options_text_,
                AsksForStrict(text != nullptr ? text : ""));
  auto options = TakeOptions(text);
  if (!options.ok()) return Fail(options.error().message, AsksForStrict(text != nullptr ? text : ""));
  auto environment = MakeEnvironment(vm);
  if (!environment.ok()) return Fail(environment.error().message, options_.strict);
  if (jvmti_->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, nullptr) != JVMTI_ERROR_NONE ||
      jvmti_->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, nullptr) != JVMTI_ERROR_NONE) {
    return Fail("the JVM refuses VMInit or VMDeath", options_.strict);
  }
  return JNI_OK;
}

jint Agent::OnAttach(JavaVM* vm, const char* text) {
  const std::lock_guard lock(mutex_);
  if (delayed_) return Fail("a recording is waiting for its delay, with options " + options_text_, true);
  if (recording_ != nullptr && !recording_->ended()) {
    return Fail(fmt::format("already recording into {}", recording_->path()), true);
  }
  auto options = TakeOptions(text);
  if (!options.ok()) return Fail(options.error().message, true);
  JNIEnv* jni = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_1_6) != JNI_OK) return Fail("no JNI environment", true);
  if (jvmti_ == nullptr) {
    auto environment = MakeEnvironment(vm);
    if (!environment.ok()) return Fail(environment.error().message, true);
    jvmti_->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, nullptr);
  }
  auto begun = Begin(jni);
  // The JVM lives either way: whoever attached is told by the status.
  return begun.ok() ? JNI_OK : Fail(begun.error().message, true);
}

void Agent::OnVmInit(JNIEnv* jni) {
  const std::lock_guard lock(mutex_);
  auto begun = Begin(jni);
  if (begun.ok()) return;
  Fail(begun.error().message, options_.strict);
  // The JVM's own way to refuse to start: no atexit handler of the application's libraries runs.
  if (options_.strict) std::_Exit(1);
}

void Agent::OnVmDeath() {
  const std::lock_guard lock(mutex_);
  ending_ = true;
  ending_changed_.notify_all();
  if (recording_ == nullptr) return;
  jvmti_->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, nullptr);
  recording_->Stop("jvm exit", /*jvm_ends=*/true);
}

format::Result<Options> Agent::TakeOptions(const char* text) {
  auto options = ParseOptions(text != nullptr ? text : "");
  if (!options.ok()) return options.error();
  options_ = *options;
  options_text_ = text != nullptr ? text : "";
  SetLogLevel(options_.log_level);
  return options;
}

format::Result<std::monostate> Agent::MakeEnvironment(JavaVM* vm) {
  jvmtiEnv* jvmti = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_11) != JNI_OK) {
    return format::Error{"this JVM has no JVMTI 11: JDK 11 or later is needed"};
  }
  jvmtiCapabilities capabilities{};
  capabilities.can_generate_sampled_object_alloc_events = 1;
  capabilities.can_get_line_numbers = 1;
  jvmtiEventCallbacks callbacks{};
  callbacks.VMInit = OnVmInitEvent;
  callbacks.VMDeath = OnVmDeathEvent;
  callbacks.ThreadStart = OnThreadStart;
  callbacks.ThreadEnd = OnThreadEnd;
  callbacks.SampledObjectAlloc = OnSampledObjectAlloc;
  if (jvmti->AddCapabilities(&capabilities) != JVMTI_ERROR_NONE ||
      jvmti->SetEventCallbacks(&callbacks, sizeof(callbacks)) != JVMTI_ERROR_NONE) {
    jvmti->DisposeEnvironment();
    return format::Error{"the JVM does not give us SampledObjectAlloc: another agent holds it"};
  }
  vm_ = vm;
  jvmti_ = jvmti;
  return std::monostate{};
}

format::Result<std::monostate> Agent::Begin(JNIEnv* jni) {
  if (jvm_ == nullptr) {
    auto jvm = Jvm::Resolve(vm_, jvmti_, jni);
    if (!jvm.ok()) return jvm.error();
    jvm_ = std::make_unique<Jvm>(std::move(*jvm));
    // A forked child shares nothing with the recording but its code.
    pthread_atfork(nullptr, nullptr, [] { sources::active_source.store(nullptr, std::memory_order_relaxed); });
  }
  if (options_.delay_ns == 0) return StartRecording(jni);

  auto thread = writer::StartQuietThread(
      "heaprec-delay", [](void* self) { static_cast<Agent*>(self)->StartAfterDelay(); }, nullptr, this);
  if (!thread.ok()) return thread.error();
  pthread_detach(*thread);
  delayed_ = true;
  return std::monostate{};
}

void Agent::StartAfterDelay() {
  std::unique_lock lock(mutex_);
  if (ending_changed_.wait_for(lock, std::chrono::nanoseconds(options_.delay_ns), [this] { return ending_; })) return;
  delayed_ = false;
  const AttachedScope attached(vm_);
  if (attached.jni() == nullptr) return;
  auto started = StartRecording(attached.jni());
  if (!started.ok()) Fail(started.error().message, false);
}

format::Result<std::monostate> Agent::StartRecording(JNIEnv* jni) {
  if (recording_ != nullptr) recording_->Join();
  auto enabled = EnableEvents(*jvm_);
  if (!enabled.ok()) return enabled.error();
  const Choice choice = ChooseSource(jni);
  if (choice.source == SourceChoice::kHooks) jvmti_->SetHeapSamplingInterval(kJvmIntervalUnderHooks);
  if (choice.source == SourceChoice::kTlab) jvmti_->SetHeapSamplingInterval(kJvmIntervalNever);
  auto started = Recording::Start(*jvm_, options_, options_text_, choice.source, choice.why, ++recordings_);
  if (!started.ok()) {
    QuietJvm(*jvm_);
    return started.error();
  }
  recording_ = *started;
  Log(LogLevel::kInfo, "recording into {}, source={} ({})", recording_->path(), SourceName(choice.source), choice.why);
  return std::monostate{};
}

Agent::Choice Agent::ChooseSource(JNIEnv* jni) {
  if (options_.source == SourceChoice::kJvmti) return {SourceChoice::kJvmti, "asked for"};
  auto ready = InstallHooks(*jvm_);
  if (ready.ok()) ready = RunSelfTest(*jvm_, jni);
  if (ready.ok()) {
    if (options_.source == SourceChoice::kTlab) return {SourceChoice::kTlab, "asked for"};
    return {SourceChoice::kHooks,
            options_.source == SourceChoice::kHooks ? "asked for" : "the hooks passed their self-test"};
  }
  auto removed = RemoveHooks();
  if (!removed.ok()) ready = format::Error{fmt::format("{}; {}", ready.error().message, removed.error().message)};
  Log(LogLevel::kWarn, "source=jvmti instead of {}: {}", SourceName(options_.source), ready.error().message);
  return {SourceChoice::kJvmti, ready.error().message};
}

jint Agent::Fail(const std::string& why, bool strict) const {
  Log(LogLevel::kError, "not recording: {}", why);
  return strict ? JNI_ERR : JNI_OK;
}

}  // namespace heaprec::agent

using heaprec::agent::Agent;
using heaprec::agent::WithoutThrowing;

extern "C" {

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void* /*reserved*/) {
  return WithoutThrowing([&] { return Agent::Instance().OnLoad(vm, options); }, JNI_OK);
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM* vm, char* options, void* /*reserved*/) {
  return WithoutThrowing([&] { return Agent::Instance().OnAttach(vm, options); }, JNI_ERR);
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM* /*vm*/) {}
}
