// Installs the hooks that report candidates: two detours on AllocTracer, which call the active source, then always the
// original. Where code may not be changed, it uses the vtables of the JVM's allocators.
//
// Context:  setup (Install: an attached thread), drain (Remove).
// Threads:  any; they serialise themselves.
// Failure:  an Error with the reasons; libjvm's code and vtables are then unchanged.
#pragma once

#include <string>
#include <variant>

#include "format/bytes/result.h"
#include "recorder/sources/jvm/jvm.h"

namespace heaprec::agent {

// Idempotent. Returns why the vtables are used; empty: the detours are used.
format::Result<std::string> InstallHooks(const sources::Jvm& jvm, JNIEnv* jni);
format::Result<std::monostate> RemoveHooks();
// Call when the self-test of what InstallHooks has installed has passed. Until then vtable hooks report the installing
// thread only.
void TrustHooks();

// Installs what sources::Census needs besides the detours on AllocTracer, which must be in place. RemoveHooks
// removes it.
format::Result<std::monostate> InstallCensusHooks(const sources::Jvm& jvm);

// Installs what sources::AllocationProbe needs, for the rest of the process. Without an active probe and without a
// recording it costs a load and a branch in each slow path.
format::Result<std::monostate> InstallProbeHooks(const sources::Jvm& jvm);

}  // namespace heaprec::agent
