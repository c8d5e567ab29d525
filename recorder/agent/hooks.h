// The two detours on AllocTracer: they call the active source, then always the original.
//
// Context:  setup (Install), drain (Remove).
// Failure:  an Error with the reason; libjvm's code is then as it was.
#pragma once

#include <variant>

#include "format/result.h"
#include "recorder/agent/jvm.h"

namespace heaprec::agent {

// Idempotent.
format::Result<std::monostate> InstallHooks(const Jvm& jvm);
format::Result<std::monostate> RemoveHooks();

}  // namespace heaprec::agent
