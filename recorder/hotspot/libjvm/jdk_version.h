// Which JDK this is.
//
// Context:  setup; any JVMTI phase from Agent_OnLoad on.
// Failure:  an Error if neither the JVM's properties nor its tables tell.
#pragma once

#include <jvmti.h>

#include "base/result.h"
#include "recorder/hotspot/libjvm/vm_structs.h"

namespace heaprec::hotspot {

// 8, 11, 17, ... If `jvmti` is null, the tables alone decide.
format::Result<int> JdkMajorVersion(jvmtiEnv* jvmti, const VmStructs& structs);

}  // namespace heaprec::hotspot
