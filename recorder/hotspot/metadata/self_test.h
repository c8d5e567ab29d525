// Compares names read from memory with JVMTI's, before anything relies on them.
//
// Context:  setup; live phase, a Java thread in native state; needs can_get_line_numbers. About a millisecond.
// Failure:  an Error naming the class, the method and the step that differs.
#pragma once

#include <jvmti.h>

#include "base/result.h"
#include "recorder/hotspot/metadata/names.h"

namespace heaprec::hotspot {

// A few classes every JVM has: plain, interface, nested, array.
Status VerifyNames(jvmtiEnv* jvmti, JNIEnv* jni, const Names& names);

// All methods and the name of one class.
Status VerifyClass(jvmtiEnv* jvmti, JNIEnv* jni, const Names& names, jclass type);

}  // namespace heaprec::hotspot
