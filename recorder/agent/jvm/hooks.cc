#include "recorder/agent/jvm/hooks.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <iterator>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "recorder/agent/jvm/end_hooks.h"
#include "recorder/arch/detour.h"
#include "recorder/hotspot/allocation/allocator_hooks.h"
#include "recorder/hotspot/allocation/unseen_allocation.h"
#include "recorder/hotspot/libjvm/libjvm.h"
#include "recorder/hotspot/threads/safepoint.h"
#include "recorder/sources/census/allocation_probe.h"
#include "recorder/sources/census/census.h"
#include "recorder/sources/java/entry.h"
#include "recorder/sources/java/jvmti_source.h"
#include "recorder/sources/java/outside_counts.h"
#include "recorder/sources/log.h"

namespace heaprec::agent {
namespace {

using arch::Detour;

// AllocTracer::send_allocation_in_new_tlab and send_allocation_outside_tlab, JDK 11 and later.
using InNewTlab = void (*)(void* klass, void* object, size_t tlab_bytes, size_t object_bytes, void* thread);
using OutsideTlab = void (*)(void* klass, void* object, size_t object_bytes, void* thread);

// One thread installs or removes at a time: a probe may begin while the drain of an ending recording removes. A thread
// that waits is in native code, and no safepoint waits for it.
std::mutex installing;

struct Detours {
  Detour in_new_tlab, outside_tlab;
};
// Never reset: a thread may be on its way through a detour that was removed.
std::optional<Detours> detours;
std::atomic<InNewTlab> original_in_new_tlab{nullptr};
std::atomic<OutsideTlab> original_outside_tlab{nullptr};

// Calls the original first, so that only two arguments must be preserved across a call.
void OnInNewTlab(void* klass, void* object, size_t tlab_bytes, size_t object_bytes, void* thread) {
  original_in_new_tlab.load(std::memory_order_relaxed)(klass, object, tlab_bytes, object_bytes, thread);
  heaprec_on_refill(thread, object_bytes);
}

void OnOutsideTlab(void* klass, void* object, size_t object_bytes, void* thread) {
  original_outside_tlab.load(std::memory_order_relaxed)(klass, object, object_bytes, thread);
  heaprec_on_outside(thread, object_bytes);
  sources::AllocationProbe::AtOutside(thread, klass, object_bytes);
  sources::Census::AtOutside(thread, klass, object_bytes);
  sources::OutsideClasses::AtOutside(klass, object_bytes);
}

// Freeze::allocate_chunk: the object itself, the size of the stack, and up to one parameter more.
using AllocateChunk = void* (*)(void* freeze, size_t stack_words, size_t more);
// Never reset, for the same reason as the detours.
std::optional<Detour> chunk_detour;
std::atomic<AllocateChunk> original_allocate_chunk{nullptr};

void* OnAllocateChunk(void* freeze, size_t stack_words, size_t more) {
  heaprec_on_stack_chunk(/*begins=*/true);
  void* const chunk = original_allocate_chunk.load(std::memory_order_relaxed)(freeze, stack_words, more);
  heaprec_on_stack_chunk(/*begins=*/false);
  return chunk;
}

// ThreadLocalAllocBuffer's functions: the object itself, and up to two parameters.
using RetireTlab = void (*)(void* tlab, void* first, void* second);
constexpr size_t kRetireFunctions = std::size(hotspot::kRetireTlab);
std::array<std::optional<Detour>, kRetireFunctions> retire_detours;
std::array<std::atomic<RetireTlab>, kRetireFunctions> retire_originals;
bool probes_hold_hooks = false;  // a probe has been used: its hooks stay installed

// JDK 11: make_parsable(retire, zap) may leave the TLAB in use.
template <size_t I>
bool Retires(const void* first) {
  return hotspot::kRetireTlab[I] != hotspot::kMakeParsable || (reinterpret_cast<uintptr_t>(first) & 0xff) != 0;
}

template <size_t I>
void OnRetire(void* tlab, void* first, void* second) {
  const auto retire = [=] { retire_originals[I].load(std::memory_order_relaxed)(tlab, first, second); };
  if (sources::retirement_watchers.load(std::memory_order_relaxed) == 0) return retire();
  const auto show_probes = [&] { sources::AllocationProbe::AroundRetirement(tlab, retire); };
  if (!Retires<I>(first)) return show_probes();
  sources::Census::AroundRetirement(tlab, show_probes);
}

template <size_t... I>
constexpr std::array<const void*, sizeof...(I)> RetireEntries(std::index_sequence<I...>) {
  return {reinterpret_cast<const void*>(&OnRetire<I>)...};
}

Status Install(Detour& detour, const sources::Jvm& jvm) {
  if (detour.installed()) return {};
  return detour.Install(hotspot::SafepointGrace(jvm.jvmti));
}

Status Remove(Detour& detour) {
  if (!detour.installed()) return {};
  return detour.Remove();
}

Status InstallRetireDetours(const sources::Jvm& jvm) {
  const auto entries = RetireEntries(std::make_index_sequence<kRetireFunctions>());
  bool any = false;
  for (size_t i = 0; i < kRetireFunctions; ++i) {
    const auto target = jvm.symbols->FindByPrefix(hotspot::kRetireTlab[i]);
    if (!target) continue;
    if (!retire_detours[i]) {
      auto prepared = Detour::Prepare(*target, entries[i]);
      if (!prepared.ok()) return prepared.error();
      retire_detours[i].emplace(std::move(*prepared));
      retire_originals[i].store(retire_detours[i]->OriginalAs<RetireTlab>());
    }
    any = true;
    auto installed = Install(*retire_detours[i], jvm);
    if (!installed.ok()) return installed;
  }
  if (!any) return Error{jvm.symbols->origin() + ": no symbols for ThreadLocalAllocBuffer"};
  return {};
}

Status RemoveRetireDetours() {
  for (auto& detour : retire_detours) {
    if (!detour) continue;
    auto removed = Remove(*detour);
    if (!removed.ok()) return removed;
  }
  return {};
}

Status PrepareDetours(const sources::Jvm& jvm) {
  const auto in_new_tlab = jvm.symbols->FindFirst(hotspot::kInNewTlab);
  const auto outside_tlab = jvm.symbols->FindFirst(hotspot::kOutsideTlab);
  if (!in_new_tlab || !outside_tlab) {
    return Error{fmt::format("{}: no symbols for AllocTracer", jvm.symbols->origin())};
  }
  auto first = Detour::Prepare(*in_new_tlab, reinterpret_cast<const void*>(&OnInNewTlab));
  if (!first.ok()) return first.error();
  auto second = Detour::Prepare(*outside_tlab, reinterpret_cast<const void*>(&OnOutsideTlab));
  if (!second.ok()) return second.error();
  detours.emplace(Detours{std::move(*first), std::move(*second)});
  original_in_new_tlab.store(detours->in_new_tlab.OriginalAs<InNewTlab>());
  original_outside_tlab.store(detours->outside_tlab.OriginalAs<OutsideTlab>());
  return {};
}

Status InstallDetours(const sources::Jvm& jvm) {
  if (!detours) {
    auto prepared = PrepareDetours(jvm);
    if (!prepared.ok()) return prepared.error();
  }
  for (Detour* detour : {&detours->in_new_tlab, &detours->outside_tlab}) {
    auto installed = Install(*detour, jvm);
    if (!installed.ok()) return installed;
  }
  return {};
}

Status RemoveDetours() {
  if (chunk_detour) {
    auto removed = Remove(*chunk_detour);
    if (!removed.ok()) return removed;
  }
  if (!detours) return {};
  auto removed = Remove(detours->in_new_tlab);
  return removed.ok() ? Remove(detours->outside_tlab) : removed;
}

// If this detour cannot be installed, points in stack chunks are missed, and counted as missed. JVMs before 21 have no
// stack chunks.
void InstallChunkDetour(const sources::Jvm& jvm) {
  for (const std::string& name : hotspot::StackChunkFunctions(jvm.structs)) {
    const auto target = jvm.symbols->FindByPrefix(name);
    if (chunk_detour || !target) continue;
    auto prepared = Detour::Prepare(*target, reinterpret_cast<const void*>(&OnAllocateChunk));
    if (!prepared.ok()) continue;
    chunk_detour.emplace(std::move(*prepared));
    original_allocate_chunk.store(chunk_detour->OriginalAs<AllocateChunk>());
  }
  if (chunk_detour) (void)Install(*chunk_detour, jvm);
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
  if (!detours || !detours->in_new_tlab.installed()) return Error{"the JVM's code cannot be patched"};
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
