#include "recorder/agent/hooks.h"

#include <fmt/format.h>

#include <atomic>
#include <optional>

#include "recorder/hotspot/allocator_hooks.h"
#include "recorder/hotspot/detour.h"
#include "recorder/hotspot/libjvm.h"
#include "recorder/hotspot/safepoint.h"
#include "recorder/sources/entry.h"

namespace heaprec::agent {
namespace {

using hotspot::Detour;

// AllocTracer::send_allocation_in_new_tlab and send_allocation_outside_tlab, JDK 11 and later.
using InNewTlab = void (*)(void* klass, void* object, size_t tlab_bytes, size_t object_bytes, void* thread);
using OutsideTlab = void (*)(void* klass, void* object, size_t object_bytes, void* thread);

struct Detours {
  Detour in_new_tlab, outside_tlab;
};
// Never reset: a thread may be on its way through a detour that was removed.
std::optional<Detours> detours;
std::atomic<InNewTlab> original_in_new_tlab{nullptr};
std::atomic<OutsideTlab> original_outside_tlab{nullptr};

// The original first: then only two arguments have to outlive a call.
void OnInNewTlab(void* klass, void* object, size_t tlab_bytes, size_t object_bytes, void* thread) {
  original_in_new_tlab.load(std::memory_order_relaxed)(klass, object, tlab_bytes, object_bytes, thread);
  heaprec_on_refill(thread, object_bytes);
}

void OnOutsideTlab(void* klass, void* object, size_t object_bytes, void* thread) {
  original_outside_tlab.load(std::memory_order_relaxed)(klass, object, object_bytes, thread);
  heaprec_on_outside(thread, object_bytes);
}

format::Result<std::monostate> PrepareDetours(const Jvm& jvm) {
  const auto in_new_tlab = jvm.symbols->FindFirst(hotspot::kInNewTlab);
  const auto outside_tlab = jvm.symbols->FindFirst(hotspot::kOutsideTlab);
  if (!in_new_tlab || !outside_tlab) {
    return format::Error{fmt::format("{}: no symbols of AllocTracer", jvm.symbols->origin())};
  }
  auto first = Detour::Prepare(*in_new_tlab, reinterpret_cast<const void*>(&OnInNewTlab));
  if (!first.ok()) return first.error();
  auto second = Detour::Prepare(*outside_tlab, reinterpret_cast<const void*>(&OnOutsideTlab));
  if (!second.ok()) return second.error();
  detours.emplace(Detours{std::move(*first), std::move(*second)});
  original_in_new_tlab.store(detours->in_new_tlab.OriginalAs<InNewTlab>());
  original_outside_tlab.store(detours->outside_tlab.OriginalAs<OutsideTlab>());
  return std::monostate{};
}

format::Result<std::monostate> InstallDetours(const Jvm& jvm) {
  if (!detours) {
    auto prepared = PrepareDetours(jvm);
    if (!prepared.ok()) return prepared.error();
  }
  for (Detour* detour : {&detours->in_new_tlab, &detours->outside_tlab}) {
    if (detour->installed()) continue;
    auto installed = detour->Install(hotspot::SafepointGrace(jvm.jvmti));
    if (!installed.ok()) return installed.error();
  }
  return std::monostate{};
}

format::Result<std::monostate> RemoveDetours() {
  if (!detours) return std::monostate{};
  for (Detour* detour : {&detours->in_new_tlab, &detours->outside_tlab}) {
    if (!detour->installed()) continue;
    auto removed = detour->Remove();
    if (!removed.ok()) return removed.error();
  }
  return std::monostate{};
}

format::Result<std::monostate> InstallVtables(const Jvm& jvm, JNIEnv* jni) {
  const auto libjvm = hotspot::LibJvm::Locate();
  if (!libjvm.ok()) return libjvm.error();
  return hotspot::InstallAllocatorHooks(*libjvm, *jvm.symbols, jvm.layout, jvm.thread_of(jni),
                                        {heaprec_on_refill, heaprec_on_outside});
}

}  // namespace

format::Result<std::string> InstallHooks(const Jvm& jvm, JNIEnv* jni) {
  if (!jvm.symbols.ok()) return jvm.symbols.error();
  // What an earlier recording could not take away would report everything twice.
  auto restored = hotspot::RemoveAllocatorHooks();
  if (!restored.ok()) return restored.error();
  auto diverted = InstallDetours(jvm);
  if (diverted.ok()) return std::string();
  // A detour that stays, because its removal is refused, would report what the vtables report.
  auto removed = RemoveDetours();
  if (!removed.ok()) return format::Error{fmt::format("{}; {}", diverted.error().message, removed.error().message)};
  auto swapped = InstallVtables(jvm, jni);
  if (swapped.ok()) return diverted.error().message;
  return format::Error{fmt::format("{}; {}", diverted.error().message, swapped.error().message)};
}

format::Result<std::monostate> RemoveHooks() {
  auto detached = RemoveDetours();
  auto restored = hotspot::RemoveAllocatorHooks();
  return detached.ok() ? restored : detached;
}

}  // namespace heaprec::agent
