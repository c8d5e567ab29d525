// Entry points for the application: heaprec.Heaprec of Java, heaprec_label of C (include/heaprec.h).
//
// Context:  any thread of the application, outside of allocations.
// Failure:  a label that cannot be set is ignored. Nothing is thrown into the application except by Heaprec.java.
#pragma once

#include <jni.h>
#include <jvmti.h>

namespace heaprec::agent {

// For an agent that attached late: if heaprec.Heaprec is loaded, it may have given up looking for an agent.
void LinkLabels(jvmtiEnv* jvmti, JNIEnv* jni);

}  // namespace heaprec::agent
