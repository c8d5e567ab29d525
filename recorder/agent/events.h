// The JVMTI events the agent lives on, turned on and off.
//
// Context:  setup, or the drain while attached; live phase.
#pragma once

#include <variant>

#include "format/result.h"
#include "recorder/agent/jvm.h"

namespace heaprec::agent {

// SampledObjectAlloc, ThreadStart and ThreadEnd on. Their callbacks are set once, in agent.cc.
format::Result<std::monostate> EnableEvents(const Jvm& jvm);

// Events off and libjvm's code as it was: the JVM runs as if we had never come.
void QuietJvm(const Jvm& jvm);

}  // namespace heaprec::agent
