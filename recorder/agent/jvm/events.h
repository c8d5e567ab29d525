// The JVMTI events the agent lives on, turned on and off.
//
// Context:  setup, or the drain while attached; live phase.
#pragma once

#include <variant>

#include "format/bytes/result.h"
#include "recorder/agent/jvm/jvm.h"

namespace heaprec::agent {

// Takes the sampling capability, which only one agent of a JVM can hold, and turns SampledObjectAlloc, ThreadStart and
// ThreadEnd on, the begin and end of collections too, and Exception if asked for. Their callbacks are set once, in
// agent.cc.
format::Result<std::monostate> EnableEvents(const Jvm& jvm, bool exceptions);

// Sampling and exceptions off, sampling's capability given back, its interval the JVM's default, and libjvm's code as
// it was. What stays: ThreadStart and ThreadEnd, without which the entries of threads that end later would never be
// free again, a handler of SIGTRAP that passes on what is not ours, and the capability for exceptions, which a JVM
// gives only at its start.
void DisableEvents(const Jvm& jvm);

}  // namespace heaprec::agent
