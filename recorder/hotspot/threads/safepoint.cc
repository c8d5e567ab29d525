#include "recorder/hotspot/threads/safepoint.h"

#include <atomic>

#include "recorder/hotspot/jvmti_memory.h"

namespace heaprec::hotspot {
namespace {

bool Wait(void* context) {
  auto* const jvmti = static_cast<jvmtiEnv*>(context);
  JvmtiArray<jvmtiStackInfo> stacks(jvmti);
  // Gets one frame of each thread: the cheapest JVMTI call that is always a safepoint operation, on 11 to 25.
  return jvmti->GetAllStackTraces(1, stacks.out(), stacks.count()) == JVMTI_ERROR_NONE;
}

struct Errand {
  void (*function)(void*);
  void* context;
};
std::atomic<Errand*> errand{nullptr};
// VM_GetAllStackTraces::doit; its only argument is the operation.
constinit Diversion<void(void*)> diverted;

// Runs at a safepoint, also if another thread started the operation.
void OnOperation(void* operation) {
  if (Errand* const mine = errand.exchange(nullptr, std::memory_order_acq_rel)) mine->function(mine->context);
  diverted.Original(operation);
}

}  // namespace

arch::GracePeriod SafepointGrace(jvmtiEnv* jvmti) { return {Wait, jvmti}; }

Status AtSafepoint(jvmtiEnv* jvmti, const SymbolTable& symbols, void (*function)(void*), void* context) {
  const auto target = symbols.FindByPrefix(kAllStacksOperation);
  if (!target) return Error{"libjvm has no symbol of a safepoint operation"};
  Status installed = diverted.Prepare(*target, &OnOperation);
  if (installed.ok()) installed = diverted.Install(jvmti);
  if (!installed.ok()) return installed;
  Errand mine{function, context};
  errand.store(&mine, std::memory_order_release);
  const bool ran = Wait(jvmti) && errand.load(std::memory_order_acquire) == nullptr;
  errand.store(nullptr, std::memory_order_release);
  auto removed = diverted.Remove();
  if (!ran) return Error{"the JVM did not run a safepoint operation"};
  return removed;
}

}  // namespace heaprec::hotspot
