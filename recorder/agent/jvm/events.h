// Turns the JVMTI events that the agent uses on and off.
//
// Context:  setup, or the drain while attached; live phase.
#pragma once

#include <variant>

#include "format/bytes/result.h"
#include "recorder/sources/jvm/jvm.h"

namespace heaprec::agent {

// Takes the sampling capability, which only one agent of a JVM can hold. Turns on SampledObjectAlloc, ThreadStart,
// ThreadEnd, the begin and end of collections, and Exception and ExceptionCatch if requested. Their callbacks are set
// once, in agent.cc.
format::Result<std::monostate> EnableEvents(const sources::Jvm& jvm, bool exceptions);

// Turns sampling and exceptions off, gives the sampling capability back, and restores the JVM's default interval and
// libjvm's code. Some things stay: ThreadStart and ThreadEnd, without which the entries of threads that end later
// would never be free again; a handler of SIGTRAP that passes on foreign traps; and the capability for exceptions,
// which a JVM gives only at its start.
void DisableEvents(const sources::Jvm& jvm);

// The JVM's own sampling interval while a source arms the threads. The agent's thresholds override the JVM's at every
// clock update. Where the JVM drops an event, its own draw bounds the stretch in which the thread is not armed. Set
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
