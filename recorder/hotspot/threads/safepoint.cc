#include "recorder/hotspot/threads/safepoint.h"

#include <atomic>
#include <optional>
#include <utility>

namespace heaprec::hotspot {
namespace {

bool Wait(void* context) {
  auto* const jvmti = static_cast<jvmtiEnv*>(context);
  jvmtiStackInfo* stacks = nullptr;
  jint count = 0;
  // Gets one frame of each thread: the cheapest JVMTI call that is always a safepoint operation, on 11 to 25.
  if (jvmti->GetAllStackTraces(1, &stacks, &count) != JVMTI_ERROR_NONE) return false;
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(stacks));
  return true;
}

// VM_GetAllStackTraces::doit; its only argument is the operation.
using Operation = void (*)(void* operation);

struct Errand {
  void (*function)(void*);
  void* context;
};
std::atomic<Errand*> errand{nullptr};
std::atomic<Operation> original{nullptr};

// Runs at a safepoint, also if another thread started the operation.
void OnOperation(void* operation) {
  if (Errand* const mine = errand.exchange(nullptr, std::memory_order_acq_rel)) mine->function(mine->context);
  original.load(std::memory_order_acquire)(operation);
}

// Prepared once and never destroyed: a thread may be executing it.
Result<arch::Detour*> PrepareOnce(const SymbolTable& symbols) {
  static std::optional<arch::Detour>* const detour = new std::optional<arch::Detour>;
  if (*detour) return &**detour;
  const auto target = symbols.FindByPrefix(kAllStacksOperation);
  if (!target) return Error{"libjvm has no symbol of a safepoint operation"};
  auto prepared = arch::Detour::Prepare(*target, reinterpret_cast<const void*>(&OnOperation));
  if (!prepared.ok()) return prepared.error();
  original.store(prepared->OriginalAs<Operation>(), std::memory_order_release);
  detour->emplace(std::move(*prepared));
  return &**detour;
}

}  // namespace

arch::GracePeriod SafepointGrace(jvmtiEnv* jvmti) { return {Wait, jvmti}; }

Status AtSafepoint(jvmtiEnv* jvmti, const SymbolTable& symbols, void (*function)(void*), void* context) {
  auto detour = PrepareOnce(symbols);
  if (!detour.ok()) return detour.error();
  auto installed = (*detour)->Install(SafepointGrace(jvmti));
  if (!installed.ok()) return installed.error();
  Errand mine{function, context};
  errand.store(&mine, std::memory_order_release);
  const bool ran = Wait(jvmti) && errand.load(std::memory_order_acquire) == nullptr;
  errand.store(nullptr, std::memory_order_release);
  auto removed = (*detour)->Remove();
  if (!ran) return Error{"the JVM did not run a safepoint operation"};
  return removed;
}

}  // namespace heaprec::hotspot
