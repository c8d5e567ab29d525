#include "recorder/agent/agent.h"

#include <fmt/format.h>
#include <pthread.h>

#include <chrono>
#include <cstdlib>
#include <utility>

#include "recorder/agent/jvm/end_hooks.h"
#include "recorder/agent/jvm/hooks.h"
#include "recorder/agent/jvm/self_test.h"
#include "recorder/hotspot/allocation/unseen_allocation.h"
#include "recorder/hotspot/threads/current_thread.h"
#include "recorder/native_sample/malloc_hooks.h"
#include "recorder/sources/census/census.h"
#include "recorder/sources/java/entry.h"
#include "recorder/sources/log.h"
#include "recorder/sources/sample/thread_fields.h"
#include "recorder/sources/state/heap_state_recorder.h"
#include "recorder/writer/signal_masked_thread.h"

namespace heaprec::agent {
namespace {

// Maximum time for which the JVM's exit waits for a command. A command that holds the lock longer is stuck in a system
// call or in another agent's function.
constexpr std::chrono::seconds kExitPatience(5);

constexpr char kAllocatesInline[] = "without TLABs the JVM's code allocates inline";
constexpr char kNoExceptions[] = "the JVM delivers exception events only to an agent that requested them at JVM start";

// Exceptions must not reach the JVM. They mean that memory ran out, so there is no recording.
template <typename Call>
auto WithoutThrowing(const Call& call, decltype(call()) otherwise) -> decltype(call()) {
  try {
    return call();
  } catch (...) {
    Agent::Instance().Abandon();
    LogOutOfMemory();
    return otherwise;
  }
}

void JNICALL OnVmInitEvent(jvmtiEnv*, JNIEnv* jni, jthread) {
  WithoutThrowing([jni] { return Agent::Instance().OnVmInit(jni), true; }, false);
}

void JNICALL OnVmDeathEvent(jvmtiEnv*, JNIEnv*) {
  WithoutThrowing([] { return Agent::Instance().OnVmDeath(), true; }, false);
}

void JNICALL OnThreadStart(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  sources::ThreadTable::Instance().Forget();
  sources::Census::OnThreadStart(*Agent::Instance().jvm(), jni, thread);
  const sources::CallbackScope inside;
  sources::Source* source = sources::CallbackScope::source();
  if (source != nullptr) source->OnThreadStart(Agent::Instance().jvm()->thread_of(jni));
}

void JNICALL OnThreadEnd(jvmtiEnv*, JNIEnv* jni, jthread) {
  void* const java_thread = Agent::Instance().jvm()->thread_of(jni);
  const sources::CallbackScope inside;
  sources::Source* source = sources::CallbackScope::source();
  if (source != nullptr) source->OnThreadEnd(java_thread);
  sources::ThreadTable::Instance().Release(java_thread);
  sources::ForgetLabels();
  sources::Census::OnThreadEnd(java_thread);
}

void JNICALL OnSampledObjectAlloc(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jobject object, jclass object_class,
                                  jlong size) {
  const sources::Delivered delivered{
      jvmti, jni, Agent::Instance().jvm()->thread_of(jni), thread, object, object_class, static_cast<uint64_t>(size)};
  heaprec_on_delivered(&delivered);
}

void JNICALL OnException(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jmethodID method, jlocation location,
                         jobject exception, jmethodID, jlocation) {
  const sources::ExceptionEvent thrown{jvmti,  jni,     Agent::Instance().jvm()->thread_of(jni), thread, exception,
                                       method, location};
  heaprec_on_exception(&thrown);
}

void JNICALL OnExceptionCatch(jvmtiEnv*, JNIEnv*, jthread, jmethodID method, jlocation location, jobject) {
  sources::ExceptionSource::OnCaught(method, location);
}

void JNICALL OnGcStart(jvmtiEnv*) {
  if (auto* const states = sources::active_heap_states.load(std::memory_order_acquire)) states->OnGcBegin();
}

void JNICALL OnGcFinish(jvmtiEnv*) {
  if (auto* const states = sources::active_heap_states.load(std::memory_order_acquire)) states->OnGcEnd();
}

}  // namespace

Agent& Agent::Instance() {
  static Agent* const agent = new Agent;  // never destroyed: events may come until the process ends
  return *agent;
}

jint Agent::OnLoad(JavaVM* vm, const char* text) {
  const std::string all = text != nullptr ? text : "";
  if (jvmti_ != nullptr) {
    return Fail("the agent is already loaded, with options " + options_text_, AsksForStrict(all));
  }
  auto command = ParseCommand(all);
  if (!command.ok()) return Fail(command.error().message, AsksForStrict(all));
  reply_file_ = command->reply_file;
  if (command->kind != CommandKind::kStart)
    return Fail("stop, flush and status need a running JVM; remove them from -agentpath", false);
  auto options = TakeOptions(command->options);
  if (!options.ok()) return Fail(options.error().message, AsksForStrict(all));
  auto environment = MakeEnvironment(vm);
  if (!environment.ok()) return Fail(environment.error().message, options_.strict);
  if (!RecordsThisJvm()) {
    jvmti_->DisposeEnvironment();
    jvmti_ = nullptr;
    return JNI_OK;
  }
  AskForExceptions();
  StopInlineAllocation(/*is_late=*/false);
  if (jvmti_->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, nullptr) != JVMTI_ERROR_NONE ||
      jvmti_->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, nullptr) != JVMTI_ERROR_NONE) {
    return Fail("the JVM refused the events VMInit or VMDeath", options_.strict);
  }
  return JNI_OK;
}

jint Agent::OnAttach(JavaVM* vm, const char* text) {
  const std::lock_guard lock(mutex_);
  return Obey(vm, text);
}

bool Agent::Ask(JavaVM* vm, const char* text, std::string* reply) {
  const std::lock_guard lock(mutex_);
  struct Listening {
    ~Listening() { listener = nullptr; }
    std::string*& listener;
  } const listening{listener_};
  listener_ = reply;
  return Obey(vm, text) == JNI_OK;
}

void Agent::OnVmInit(JNIEnv* jni) {
  const std::lock_guard lock(mutex_);
  starts_ = true;
  auto begun = Begin(jni);
  starts_ = false;
  if (begun.ok()) return;
  Fail(begun.error().message, options_.strict);
  // The JVM's own way to refuse a start: it runs no atexit handlers of the application's libraries.
  if (options_.strict) std::_Exit(1);
}

void Agent::OnVmDeath() {
  ending_ = true;
  const std::unique_lock lock(mutex_, kExitPatience);
  if (!lock.owns_lock()) {
    StopSources();
    Log(LogLevel::kWarn, "the JVM exits while a command is still running; a recording may lack its end");
    return;
  }
  ending_changed_.notify_all();
  if (samples_) {
    RestoreInterval(*jvm_);
    sources::active_source.store(nullptr);
  }
  if (recording_ == nullptr) return;
  // Must come first: while the source is active, other threads allocate, and forced objects have to be delivered.
  recording_->Stop("jvm exit", /*jvm_ends=*/true);
  jvmti_->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, nullptr);
  jvmti_->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_EXCEPTION, nullptr);
}

void Agent::Abandon() {
  StopSources();
  const std::unique_lock lock(mutex_, kExitPatience);
  if (lock.owns_lock() && jvm_ != nullptr) RestoreInterval(*jvm_);
}

Result<Options> Agent::TakeOptions(const std::string& text) {
  auto options = ParseOptions(text);
  if (!options.ok()) return options.error();
  options_ = *options;
  options_text_ = options_.given;
  SetLogLevel(options_.log_level);
  return options;
}

bool Agent::RecordsThisJvm() const {
  const std::string main = sources::PropertyOf(jvmti_, "sun.java.command");
  return options_.Records(main.substr(0, main.find(' ')));
}

Status Agent::MakeEnvironment(JavaVM* vm) {
  jvmtiEnv* jvmti = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_11) != JNI_OK) {
    return Error{"this JVM has no JVMTI 11; JDK 11 or later is needed"};
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
  callbacks.Exception = OnException;
  callbacks.ExceptionCatch = OnExceptionCatch;
  callbacks.GarbageCollectionStart = OnGcStart;
  callbacks.GarbageCollectionFinish = OnGcFinish;
  if (jvmti->AddCapabilities(&capabilities) != JVMTI_ERROR_NONE ||
      jvmti->SetEventCallbacks(&callbacks, sizeof(callbacks)) != JVMTI_ERROR_NONE) {
    jvmti->DisposeEnvironment();
    return Error{
        "another agent owns the SampledObjectAlloc capability; remove that agent or stop its allocation profiling"};
  }
  jvmtiCapabilities collections{};
  collections.can_generate_garbage_collection_events = 1;
  jvmti->AddCapabilities(&collections);  // always available; without it a recording lacks collections
  vm_ = vm;
  jvmti_ = jvmti;
  return {};
}

Status Agent::MakeLateEnvironment(JavaVM* vm) {
  if (jvmti_ != nullptr) return {};
  auto environment = MakeEnvironment(vm);
  if (environment.ok()) jvmti_->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, nullptr);
  return environment;
}

// Generated code is final once the JVM has started.
void Agent::StopInlineAllocation(bool is_late) {
  const auto structs = hotspot::VmStructs::Load();
  if (!structs.ok()) return;
  const auto major = hotspot::JdkMajorVersion(jvmti_, *structs);
  if (!major.ok() || !hotspot::AllocatesInline(*structs, hotspot::JdkRules::For(*major))) return;
  const auto stopped =
      is_late ? Status(Error{"the agent attached after the JVM had started"}) : hotspot::StopInlineAllocation(*structs);
  inline_allocation_ = stopped.ok() ? std::string() : stopped.error().message;
}

// Notes facts about the source if the JVM runs without TLABs.
void Agent::NoteInlineAllocation(ChosenSource* choice) const {
  if (!inline_allocation_) return;
  if (inline_allocation_->empty()) {
    choice->why += "; without TLABs the agent makes the JVM's code allocate through calls instead of inline";
    return;
  }
  Log(LogLevel::kWarn,
      "{}: the agent counts the bytes but does not sample most objects; remove -XX:-UseTLAB, or start the JVM with the "
      "agent ({})",
      kAllocatesInline, *inline_allocation_);
  choice->fact = format::SourceFact::kAllocatesInline;
  choice->why += fmt::format("; {}, where the hooks see nothing: {}", kAllocatesInline, *inline_allocation_);
}

void Agent::AskForExceptions() {
  if (!options_.exceptions || has_exceptions_) return;
  jvmtiCapabilities capabilities{};
  capabilities.can_generate_exception_events = 1;
  has_exceptions_ = jvmti_->AddCapabilities(&capabilities) == JVMTI_ERROR_NONE;
}

Status Agent::Prepare(JNIEnv* jni) {
  if (jvm_ != nullptr) return {};
  auto jvm = sources::Jvm::Resolve(vm_, jvmti_, jni, options_.source == SourceChoice::kPortable);
  if (!jvm.ok()) return jvm.error();
  jvm_ = std::make_unique<sources::Jvm>(std::move(*jvm));
  // A forked child must not use the recording of its parent.
  pthread_atfork(nullptr, nullptr, [] {
    StopSources();
    sources::Census::Abandon();
    native::AbandonHooks();
  });
  return {};
}

Status Agent::Begin(JNIEnv* jni) {
  auto prepared = Prepare(jni);
  if (!prepared.ok()) return prepared.error();
  if (options_.delay_ns == 0) return StartRecording(jni);

  auto thread = writer::StartSignalMaskedThread(
      "heaprec-delay", [](void* self) { static_cast<Agent*>(self)->StartAfterDelay(); }, nullptr, this);
  if (!thread.ok()) return thread.error();
  pthread_detach(*thread);
  delayed_ = true;
  ++delays_;
  return {};
}

void Agent::StartAfterDelay() {
  std::unique_lock lock(mutex_);
  const uint32_t mine = delays_;
  const auto is_over = [this, mine] { return ending_ || !delayed_ || delays_ != mine; };
  if (ending_changed_.wait_for(lock, std::chrono::nanoseconds(options_.delay_ns), is_over)) return;
  delayed_ = false;
  const sources::AttachedScope attached(vm_);
  if (attached.jni() == nullptr) return;
  auto started = StartRecording(attached.jni());
  if (!started.ok()) Fail(started.error().message, false);
}

// On an exception, as on a failure, undoes what has begun.
Status Agent::StartRecording(JNIEnv* jni) try {
  if (samples_)
    return Error{sampler_ == SamplingClient::kJava
                     ? "the application samples through heaprec (Heaprec.startSampling)"
                     : "another agent samples through heaprec (include/heaprec_sampling.h)"};
  if (ending_) return Error{kJvmEnds};
  if (recording_ != nullptr) retired_.Add(std::move(recording_));
  retired_.Free(jvmti_);
  auto enabled = EnableEvents(*jvm_, options_.exceptions && has_exceptions_);
  if (!enabled.ok()) return enabled.error();
  EventsOfStart events(*jvm_);
  ChosenSource choice = ChooseSource(jni);
  NoteInlineAllocation(&choice);
  if (options_.exceptions && !has_exceptions_) {
    choice.no_exceptions = kNoExceptions;
    Log(LogLevel::kWarn, "exceptions are not recorded: {}", kNoExceptions);
  }
  if (options_.census != format::CensusMode::kOff) {
    const auto counted = choice.source == SourceChoice::kJvmti ? Status(Error{"source=jvmti installs no hooks"})
                                                               : InstallCensusHooks(*jvm_);
    if (!counted.ok()) choice.no_census = counted.error().message;
  }
  choice.ends = InstallEndHooks(*jvm_, starts_);
  // Where code cannot be patched, or the agent came late, it is no surprise.
  const bool patches_code =
      choice.source == SourceChoice::kHooks && choice.fact != format::SourceFact::kOutsideUncounted;
  if (!choice.ends.missing.empty())
    Log(starts_ && patches_code ? LogLevel::kWarn : LogLevel::kInfo,
        "the recording may lack how the process ends. Not seen: {}", choice.ends.missing);
  auto started = Recording::Start(*jvm_, options_, choice, ++recordings_, ending_, &retired_);
  if (!started.ok()) {
    if (ending_) events.Keep();  // JVMTI has ended
    return started.error();
  }
  events.Keep();
  recording_ = std::move(*started);
  SayStarted(choice);
  return {};
} catch (...) {
  return Error{"out of memory"};
}

void Agent::SayStarted(const ChosenSource& choice) {
  try {
    Reply(ReplyStatus::kOk, State());
    Log(LogLevel::kInfo, "recording into {}, source={} ({})", recording_->path(), SourceName(choice.source),
        choice.why);
  } catch (...) {  // out of memory: records nevertheless
  }
}

// Chooses the source for an unknown JVM, or one whose memory must not be read. The JVM draws the thresholds. Before JDK
// 25 TLABs keep their threshold after an allocation outside them (JDK-8355692), so later allocations in TLABs are
// sampled at wrong rates.
ChosenSource Agent::ChoosePortable() {
  const std::string& why = jvm_->internals.error().message;
  if (options_.source != SourceChoice::kPortable) {
    Log(LogLevel::kWarn, "source=portable instead of {}: {}", SourceName(options_.source), why);
  }
  const char* const bytes =
      jvm_->beans.CountsAllocatedBytes() ? "counted by ThreadMXBean" : "estimated from the samples";
  const std::string jdk = jvm_->Property("java.vm.specification.version");
  const bool is_biased = std::strtol(jdk.c_str(), nullptr, 10) < 25;
  if (is_biased) {
    Log(LogLevel::kWarn, "source=portable: JDK {} samples at wrong rates where objects are allocated outside TLABs",
        jdk);
  }
  ChosenSource choice{SourceChoice::kJvmti,
                      fmt::format("portable, {}; thresholds are the JVM's{}; bytes are {}", why,
                                  is_biased ? ", biased outside TLABs" : "", bytes),
                      /*armed=*/false};
  if (is_biased) choice.fact = format::SourceFact::kBiasedOutsideTlabs;
  return choice;
}

ChosenSource Agent::ChooseSource(JNIEnv* jni) {
  if (!jvm_->internals.ok()) return ChoosePortable();
  if (options_.source == SourceChoice::kPortable) {
    return ChooseJvmti(jni, "portable was requested, but the agent has already read the JVM's memory");
  }
  if (options_.source == SourceChoice::kJvmti) return ChooseJvmti(jni, "asked for");
  auto installed = InstallHooks(*jvm_, jni);
  Status ready = installed.ok() ? TestHooks(*jvm_, jni) : Status(installed.error());
  if (ready.ok()) {
    TrustHooks();
    const std::string why = options_.source == SourceChoice::kAuto ? "the hooks passed their self-test" : "asked for";
    if (installed->empty()) return {SourceChoice::kHooks, why, /*armed=*/true};
    return {SourceChoice::kHooks, fmt::format("{}, by vtables: {}", why, *installed),
            /*armed=*/true,
            /*no_exceptions=*/{},
            /*no_census=*/{},     format::SourceFact::kOutsideUncounted};
  }
  auto removed = RemoveHooks();
  if (!removed.ok()) ready = Error{fmt::format("{}; {}", ready.error().message, removed.error().message)};
  Log(LogLevel::kWarn, "source=jvmti instead of {}: {}", SourceName(options_.source), ready.error().message);
  return ChooseJvmti(jni, ready.error().message);
}

ChosenSource Agent::ChooseJvmti(JNIEnv* jni, const std::string& why) {
  auto ready = TestThreshold(*jvm_, jni);
  if (ready.ok()) return {SourceChoice::kJvmti, why, /*armed=*/true};
  return {SourceChoice::kJvmti, fmt::format("{}; thresholds are the JVM's: {}", why, ready.error().message),
          /*armed=*/false};
}

jint Agent::Fail(const std::string& why, bool strict) {
  Log(LogLevel::kError, "not recording: {}", why);
  Reply(ReplyStatus::kError, why);
  return strict ? JNI_ERR : JNI_OK;
}

jint Agent::Refuse(const std::string& why, ReplyStatus status) {
  if (reply_file_.empty() && listener_ == nullptr) Log(LogLevel::kError, "not recording: {}", why);
  Reply(status, why);
  return JNI_ERR;
}

void Agent::Reply(ReplyStatus status, const std::string& sentence) {
  if (listener_ != nullptr) *std::exchange(listener_, nullptr) = sentence;
  WriteReply(std::exchange(reply_file_, {}), status, sentence);
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
