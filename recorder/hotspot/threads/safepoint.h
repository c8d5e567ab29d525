// Operations that stop all Java threads for a moment.
//
// Context:  setup, drain: live phase, any attached or JVM-created thread.
// Failure:  the JVM refuses (before VMInit, after VMDeath), or libjvm's symbols are unknown.
#pragma once

#include <jvmti.h>

#include "base/result.h"
#include "recorder/arch/detour.h"
#include "recorder/hotspot/libjvm/libjvm.h"

namespace heaprec::hotspot {

// Returns a grace period for Detour: one safepoint operation. A thread inside the diverted functions is in the VM,
// where it cannot stop for a safepoint; so after a safepoint every thread has left them. Agent_OnLoad needs none.
arch::GracePeriod SafepointGrace(jvmtiEnv* jvmti);

// Calls `function(context)` once, on the JVM's own thread, while all Java threads are stopped. `function` must take
// no lock of the JVM and no handle. No public interface does this without walking the heap or deoptimising every
// stack, so the operation behind GetAllStackTraces is diverted for one call. Returns an Error if it was not called.
// Serialised by the caller.
Status AtSafepoint(jvmtiEnv* jvmti, const SymbolTable& symbols, void (*function)(void*), void* context);

}  // namespace heaprec::hotspot
