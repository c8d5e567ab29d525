// A grace period for Detour: one safepoint operation. A thread inside the diverted functions is in the VM, where it
// cannot stop for a safepoint; so after one every thread has left them.
//
// Context:  setup, drain: live phase, any attached or JVM-created thread. At Agent_OnLoad none is needed.
// Failure:  the wait reports false when the JVM refuses (before VMInit, after VMDeath).
#pragma once

#include <jvmti.h>

#include "recorder/hotspot/detour.h"

namespace heaprec::hotspot {

GracePeriod SafepointGrace(jvmtiEnv* jvmti);

}  // namespace heaprec::hotspot
