#include "recorder/agent/jvm/hooks.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <mutex>
#include <span>
#include <utility>

#include "recorder/agent/jvm/end_hooks.h"
#include "recorder/hotspot/allocation/allocator_hooks.h"
#include "recorder/hotspot/allocation/unseen_allocation.h"
#include "recorder/hotspot/libjvm.h"
#include "recorder/hotspot/threads/safepoint.h"
#include "recorder/sources/census/allocation_probe.h"
#include "recorder/sources/census/census.h"
#include "recorder/sources/java/entry.h"
#include "recorder/sources/java/jvmti_source.h"
#include "recorder/sources/java/outside_counts.h"
#include "recorder/sources/log.h"

namespace heaprec::agent {
namespace {

using hotspot::Diversion;

// One thread installs or removes at a time: a probe may begin while the drain of an ending recording removes. A thread
// that waits is in native code, and no safepoint waits for it.
std::mutex installing;

// AllocTracer::send_allocation_in_new_tlab and send_allocation_outside_tlab, JDK 11 and later.
constinit Diversion<void(void* klass, void* object, size_t tlab_bytes, size_t object_bytes, void* thread)> in_new_tlab;
constinit Diversion<void(void* klass, void* object, size_t object_bytes, void* thread)> outside_tlab;

// Calls the original first, so that only two arguments must be preserved across a call.
void OnInNewTlab(void* klass, void* object, size_t tlab_bytes, size_t object_bytes, void* thread) {
  in_new_tlab.Original(klass, object, tlab_bytes, object_bytes, thread);
  heaprec_on_refill(thread, object_bytes);
}

void OnOutsideTlab(void* klass, void* object, size_t object_bytes, void* thread) {
  outside_tlab.Original(klass, object, object_bytes, thread);
  heaprec_on_outside(thread, object_bytes);
  sources::AllocationProbe::AtOutside(thread, klass, object_bytes);
  sources::Census::AtOutside(thread, klass, object_bytes);
  sources::OutsideClasses::AtOutside(klass, object_bytes);
}

// Freeze::allocate_chunk: the object itself, the size of the stack, and up to one parameter more.
constinit Diversion<void*(void* freeze, size_t stack_words, size_t more)> allocate_chunk;

void* OnAllocateChunk(void* freeze, size_t stack_words, size_t more) {
  heaprec_on_stack_chunk(/*begins=*/true);
  void* const chunk = allocate_chunk.Original(freeze, stack_words, more);
  heaprec_on_stack_chunk(/*begins=*/false);
  return chunk;
}

// ThreadLocalAllocBuffer's functions: the object itself, and up to two parameters.
using RetireTlab = void(void* tlab, void* first, void* second);
constexpr size_t kRetireFunctions = std::size(hotspot::kRetireTlab);
constinit std::array<Diversion<RetireTlab>, kRetireFunctions> retire_tlab;
bool probes_hold_hooks = false;  // a probe has been used: its hooks stay installed

// JDK 11: make_parsable(retire, zap) may leave the TLAB in use.
template <size_t I>
bool Retires(const void* first) {
  return hotspot::kRetireTlab[I] != hotspot::kMakeParsable || (reinterpret_cast<uintptr_t>(first) & 0xff) != 0;
}

template <size_t I>
void OnRetire(void* tlab, void* first, void* second) {
  const auto retire = [=] { retire_tlab[I].Original(tlab, first, second); };
  if (sources::retirement_watchers.load(std::memory_order_relaxed) == 0) return retire();
  const auto show_probes = [&] { sources::AllocationProbe::AroundRetirement(tlab, retire); };
  if (!Retires<I>(first)) return show_probes();
  sources::Census::AroundRetirement(tlab, show_probes);
}

template <size_t... I>
constexpr std::array<RetireTlab*, sizeof...(I)> RetireEntries(std::index_sequence<I...>) {
  return {&OnRetire<I>...};
}

Status InstallRetireDetours(const sources::Jvm& jvm) {
  constexpr auto kEntries = RetireEntries(std::make_index_sequence<kRetireFunctions>());
  bool any = false;
  for (size_t i = 0; i < kRetireFunctions; ++i) {
    const auto target = jvm.symbols->FindByPrefix(hotspot::kRetireTlab[i]);
    if (!target) continue;
    any = true;
    Status installed = retire_tlab[i].Prepare(*target, kEntries[i]);
    if (installed.ok()) installed = retire_tlab[i].Install(jvm.jvmti);
    if (!installed.ok()) return installed;
  }
  if (!any) return Error{jvm.symbols->origin() + ": no symbols for ThreadLocalAllocBuffer"};
  return {};
}

Status RemoveRetireDetours() {
  for (auto& detour : retire_tlab) {
    auto removed = detour.Remove();
    if (!removed.ok()) return removed;
  }
  return {};
}

// Prepares both before it installs one.
Status InstallDetours(const sources::Jvm& jvm) {
  const auto in_new = jvm.symbols->FindFirst(hotspot::kInNewTlab);
  const auto outside = jvm.symbols->FindFirst(hotspot::kOutsideTlab);
  if (!in_new || !outside) return Error{fmt::format("{}: no symbols for AllocTracer", jvm.symbols->origin())};
  Status done = in_new_tlab.Prepare(*in_new, &OnInNewTlab);
  if (done.ok()) done = outside_tlab.Prepare(*outside, &OnOutsideTlab);
  if (done.ok()) done = in_new_tlab.Install(jvm.jvmti);
  if (done.ok()) done = outside_tlab.Install(jvm.jvmti);
  return done;
}

Status RemoveDetours() {
  Status removed = allocate_chunk.Remove();
  if (removed.ok()) removed = in_new_tlab.Remove();
  if (removed.ok()) removed = outside_tlab.Remove();
  return removed;
}

// If this detour cannot be installed, points in stack chunks are missed, and counted as missed. JVMs before 21 have no
// stack chunks.
void InstallChunkDetour(const sources::Jvm& jvm) {
  for (const std::string& name : hotspot::StackChunkFunctions(jvm.structs)) {
    const auto target = jvm.symbols->FindByPrefix(name);
    if (target) (void)allocate_chunk.Prepare(*target, &OnAllocateChunk);
  }
  if (allocate_chunk.is_prepared()) (void)allocate_chunk.Install(jvm.jvmti);
}

Status InstallVtables(const sources::Jvm& jvm, JNIEnv* jni) {
  const auto libjvm = hotspot::LibJvm::Locate();
  if (!libjvm.ok()) return libjvm.error();
  return hotspot::InstallAllocatorHooks(*libjvm, *jvm.symbols, jvm.layout, jvm.thread_of(jni),
                                        {heaprec_on_refill, heaprec_on_outside});
}

// The last two are enabled only if exceptions are recorded.
constexpr std::array kEvents{JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END,
                             JVMTI_EVENT_EXCEPTION, JVMTI_EVENT_EXCEPTION_CATCH};
constexpr std::array kGcEvents{JVMTI_EVENT_GARBAGE_COLLECTION_START, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH};

jvmtiCapabilities SamplingCapability() {
  jvmtiCapabilities capabilities{};
  capabilities.can_generate_sampled_object_alloc_events = 1;
  return capabilities;
}

}  // namespace

Result<std::string> InstallHooks(const sources::Jvm& jvm, JNIEnv* jni) {
  const std::lock_guard lock(installing);
  if (!jvm.symbols.ok()) return jvm.symbols.error();
  // Hooks that an earlier recording could not remove would report everything twice.
  auto restored = hotspot::RemoveAllocatorHooks();
  if (!restored.ok()) return restored.error();
  auto installed = InstallDetours(jvm);
  if (installed.ok()) {
    InstallChunkDetour(jvm);
    return std::string();
  }
  // A detour whose removal is refused would report the same objects as the vtables.
  auto removed = RemoveDetours();
  if (!removed.ok()) return Error{fmt::format("{}; {}", installed.error().message, removed.error().message)};
  auto vtables = InstallVtables(jvm, jni);
  if (vtables.ok()) return installed.error().message;
  return Error{fmt::format("{}; {}", installed.error().message, vtables.error().message)};
}

Status InstallProbeHooks(const sources::Jvm& jvm) {
  const std::lock_guard lock(installing);
  if (probes_hold_hooks) return {};
  if (!jvm.symbols.ok()) return jvm.symbols.error();
  auto retire_installed = InstallRetireDetours(jvm);
  if (!retire_installed.ok()) return retire_installed;
  auto installed = InstallDetours(jvm);
  if (!installed.ok()) return installed;
  probes_hold_hooks = true;
  return installed;
}

Status InstallCensusHooks(const sources::Jvm& jvm) {
  const std::lock_guard lock(installing);
  if (!jvm.symbols.ok()) return jvm.symbols.error();
  if (!in_new_tlab.installed()) return Error{"the JVM's code cannot be patched"};
  if (!jvm.threads.ok()) return jvm.threads.error();
  if (!jvm.symbols->FindByPrefix(hotspot::kAllStacksOperation)) {
    return Error{jvm.symbols->origin() + ": no symbol for a safepoint operation"};
  }
  return InstallRetireDetours(jvm);
}

void TrustHooks() { hotspot::TrustAllocatorHooks(); }

Status RemoveHooks() {
  const std::lock_guard lock(installing);
  if (probes_hold_hooks) return {};
  auto removed = RemoveDetours();
  auto retire_removed = RemoveRetireDetours();
  if (removed.ok()) removed = retire_removed;
  auto restored = hotspot::RemoveAllocatorHooks();
  return removed.ok() ? restored : removed;
}

Status EnableEvents(const sources::Jvm& jvm, bool exceptions) {
  const jvmtiCapabilities sampling = SamplingCapability();
  if (jvm.jvmti->AddCapabilities(&sampling) != JVMTI_ERROR_NONE) {
    return Error{
        "another agent owns the SampledObjectAlloc capability; remove that agent or stop its allocation profiling"};
  }
  for (const jvmtiEvent event : std::span(kEvents).first(kEvents.size() - (exceptions ? 0 : 2))) {
    const jvmtiError error = jvm.jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
    if (error == JVMTI_ERROR_NONE) continue;
    DisableEvents(jvm);
    return Error{
        fmt::format("the JVM refused JVMTI event {} (error {})", static_cast<int>(event), static_cast<int>(error))};
  }
  // A recording without collections is still useful.
  for (const jvmtiEvent event : kGcEvents) jvm.jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
  return {};
}

void DisableEvents(const sources::Jvm& jvm) {
  for (const jvmtiEvent event : kEvents) {
    if (event != JVMTI_EVENT_THREAD_START && event != JVMTI_EVENT_THREAD_END)
      jvm.jvmti->SetEventNotificationMode(JVMTI_DISABLE, event, nullptr);
  }
  for (const jvmtiEvent event : kGcEvents) jvm.jvmti->SetEventNotificationMode(JVMTI_DISABLE, event, nullptr);
  RestoreInterval(jvm);
  const jvmtiCapabilities sampling = SamplingCapability();
  jvm.jvmti->RelinquishCapabilities(&sampling);
  RemoveEndHooks();
  auto removed = RemoveHooks();
  // An installed hook without a source costs a load and a branch.
  if (!removed.ok()) Log(LogLevel::kInfo, "the hooks stay installed: {}", removed.error().message);
}

void RestoreInterval(const sources::Jvm& jvm) {
  jvm.jvmti->SetHeapSamplingInterval(static_cast<jint>(sources::kJvmDefaultInterval));
}

EventsOfStart::~EventsOfStart() {
  if (jvm_ == nullptr) return;
  try {
    DisableEvents(*jvm_);
  } catch (...) {  // out of memory for the reason why the hooks stay
  }
}

}  // namespace heaprec::agent
