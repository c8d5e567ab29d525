// Checks on the running JVM, before a recording relies on it, that the byte clock's words mean what the agent assumes.
//
// Context:  setup: live phase, SampledObjectAlloc enabled, no source active.
//           Allocates arrays of 16 KiB on the calling thread until some of them took the slow path.
// Failure:  an Error that names the step.
#pragma once

#include "base/result.h"
#include "recorder/sources/jvm/jvm.h"

namespace heaprec::agent {

// With the hooks installed. 1: A moves by exactly the array's size. 2: a hook sees the array. 3: Force delivers this
// very array. 4: an array with the point far away is not delivered.
Status TestHooks(const sources::Jvm& jvm, JNIEnv* jni);

// Without hooks: of arrays in a row, the JVM delivers the one that holds the armed byte, or one before it.
Status TestThreshold(const sources::Jvm& jvm, JNIEnv* jni);

}  // namespace heaprec::agent
