// The way to the candidates: two detours on AllocTracer, which call the active source, then always the original; or,
// where code may not be changed, the vtables of the JVM's allocators.
//
// Context:  setup (Install: an attached thread), drain (Remove).
// Failure:  an Error with the reasons; libjvm's code and vtables are then as they were.
#pragma once

#include <string>
#include <variant>

#include "format/bytes/result.h"
#include "recorder/agent/jvm/jvm.h"

namespace heaprec::agent {

// Idempotent. Says why it is the vtables; empty: it is the detours.
format::Result<std::string> InstallHooks(const Jvm& jvm, JNIEnv* jni);
format::Result<std::monostate> RemoveHooks();
// After the self-test of what InstallHooks has installed has passed; until then the hooks see the installing thread
// alone, where they are vtables.
void TrustHooks();

// What sources::Census needs beside the detours on AllocTracer, which have to be in place; RemoveHooks takes it away.
format::Result<std::monostate> InstallCensusHooks(const Jvm& jvm);

// What sources::AllocationProbe needs, for the rest of the process: without a probe at work, and without a recording, a
// load and a branch in each slow path.
format::Result<std::monostate> InstallProbeHooks(const Jvm& jvm);

}  // namespace heaprec::agent
