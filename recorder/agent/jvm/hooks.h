// Changes that the agent makes in the JVM: hooks that report candidates, and the JVMTI events that it uses. The hooks
// are two detours on AllocTracer, which call the active source and then always the original. If code may not be
// changed, the hooks are in the vtables of the JVM's allocators.
//
// Context:  setup (Install, Enable: an attached thread, live phase), or the drain while attached (Remove, Disable).
// Threads:  any; they serialise themselves.
// Failure:  an Error with the reasons; libjvm's code and vtables are then unchanged.
#pragma once

#include <string>

#include "base/result.h"
#include "recorder/sources/jvm/jvm.h"

namespace heaprec::agent {

// Idempotent. Returns why the vtables are used; empty: the detours are used.
Result<std::string> InstallHooks(const sources::Jvm& jvm, JNIEnv* jni);
Status RemoveHooks();
// Call after the self-test of the hooks that InstallHooks has installed. Before that, vtable hooks report only the
// installing thread.
void TrustHooks();

// Installs what sources::Census needs besides the detours on AllocTracer, which must be in place. RemoveHooks
// removes it.
Status InstallCensusHooks(const sources::Jvm& jvm);

// Installs what sources::AllocationProbe needs, for the rest of the process. Without an active probe or recording this
// costs a load and a branch in each slow path.
Status InstallProbeHooks(const sources::Jvm& jvm);

// Takes the sampling capability, which only one agent of a JVM can hold. Turns on SampledObjectAlloc, ThreadStart,
// ThreadEnd, the begin and end of collections, and Exception and ExceptionCatch if requested. Their callbacks are set
// once, in agent.cc.
Status EnableEvents(const sources::Jvm& jvm, bool exceptions);

// Turns sampling and exceptions off, returns the sampling capability, and restores the JVM's default interval and
// libjvm's code. Some things stay: ThreadStart and ThreadEnd, because they free the entries of threads that end later;
// a handler of SIGTRAP that passes on foreign traps; and the capability for exceptions, which a JVM gives only at its
// start.
void DisableEvents(const sources::Jvm& jvm);

// The JVM's own sampling interval while a source arms the threads. The agent's thresholds override the JVM's at every
// clock update. If the JVM drops an event, this interval limits how long the thread stays without a threshold. Set
// only while the source is active: without one the JVM would deliver an object for every 512 bytes, and nothing would
// use it.
inline constexpr jint kIntervalUnderHooks = 512;  // bytes

// Sets the JVM's default interval. Call it before the source that armed the threads ceases to be active. Needs an
// attached thread.
void RestoreInterval(const sources::Jvm& jvm);

// After EnableEvents: disables the events again unless the start that needs them succeeds. If there is no memory for
// that, the hooks may stay installed.
class EventsOfStart {
 public:
  explicit EventsOfStart(const sources::Jvm& jvm) : jvm_(&jvm) {}
  ~EventsOfStart();
  EventsOfStart(const EventsOfStart&) = delete;
  EventsOfStart& operator=(const EventsOfStart&) = delete;
  void Keep() { jvm_ = nullptr; }

 private:
  const sources::Jvm* jvm_;
};

}  // namespace heaprec::agent
