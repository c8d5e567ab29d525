// Where the application comes in: heaprec.Heaprec of Java, heaprec_label of C (include/heaprec.h).
//
// Context:  any thread of the application, outside of allocations.
// Failure:  a label that cannot be set is not; nothing is thrown into the application but what Heaprec.java throws.
#pragma once

#include <jni.h>
#include <jvmti.h>

namespace heaprec::agent {

// For an agent that came late: heaprec.Heaprec, if it has been loaded, may have given up looking for one.
void LinkLabels(jvmtiEnv* jvmti, JNIEnv* jni);

}  // namespace heaprec::agent
