// Checks in the running JVM, before a recording, that the byte clock's fields mean what the agent assumes.
//
// Context:  setup: live phase, SampledObjectAlloc enabled, no source active.
//           Allocates arrays of 16 KiB on the calling thread until some of them took the slow path.
// Failure:  an Error that names the step.
#pragma once

#include "base/result.h"
#include "recorder/sources/jvm/jvm.h"

namespace heaprec::agent {

// With hooks installed, checks: 1. A moves by exactly the array's size. 2. A hook sees the array. 3. Force delivers
// this very array. 4. An array far before the point is not delivered.
Status TestHooks(const sources::Jvm& jvm, JNIEnv* jni);

// Without hooks, checks that the JVM delivers the array that contains the armed byte, or one before it.
Status TestThreshold(const sources::Jvm& jvm, JNIEnv* jni);

}  // namespace heaprec::agent
