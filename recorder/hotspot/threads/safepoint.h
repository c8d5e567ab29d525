// Operations that stop all Java threads for a moment.
//
// Context:  setup, drain: live phase, any attached or JVM-created thread.
// Failure:  the JVM refuses (before VMInit, after VMDeath), or libjvm's symbols are unknown.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/result.h"
#include "recorder/arch/detour.h"
#include "recorder/hotspot/libjvm.h"

namespace heaprec::hotspot {

// Returns a grace period for Detour: one safepoint operation. A thread inside the diverted functions is in the VM,
// where it cannot stop for a safepoint; so after a safepoint every thread has left them. Agent_OnLoad needs none.
arch::GracePeriod SafepointGrace(jvmtiEnv* jvmti);

// A function of the JVM, of this type, that is diverted, and its original for the replacement to call. It lives as long
// as the process: a thread may be on its way through a detour that was removed.
//
// Context:  Original: any. Prepare, Install and Remove are idempotent; Install needs a successful Prepare.
template <typename Function>
class Diversion {
 public:
  Status Prepare(uintptr_t target, Function* replacement) {
    if (detour_) return {};
    auto prepared = arch::Detour::Prepare(target, reinterpret_cast<const void*>(replacement));
    if (!prepared.ok()) return prepared.error();
    original_.store(prepared->template OriginalAs<Function*>(), std::memory_order_release);
    detour_.emplace(std::move(*prepared));
    return {};
  }
  Status Install(jvmtiEnv* jvmti) { return detour_->Install(SafepointGrace(jvmti)); }
  Status Remove() { return detour_ ? detour_->Remove() : Status{}; }
  bool is_prepared() const { return detour_.has_value(); }
  bool installed() const { return detour_ && detour_->installed(); }

  template <typename... Arguments>
  auto Original(Arguments... arguments) const {
    return original_.load(std::memory_order_acquire)(arguments...);
  }

 private:
  std::optional<arch::Detour> detour_;
  std::atomic<Function*> original_{nullptr};
};

// Calls `function(context)` once, on the JVM's own thread, while all Java threads are stopped. `function` must take
// no lock of the JVM and no handle. No public interface does this without walking the heap or deoptimising every
// stack, so the operation behind GetAllStackTraces is diverted for one call. Returns an Error if it was not called.
// Serialised by the caller.
Status AtSafepoint(jvmtiEnv* jvmti, const SymbolTable& symbols, void (*function)(void*), void* context);

}  // namespace heaprec::hotspot
