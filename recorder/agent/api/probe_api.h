// Entry points for heaprec.Probe of Java: what a thread allocates between two calls.
//
// Context:  any thread of the application, in native.
// Failure:  begin0 throws an IllegalStateException that says why this JVM cannot be probed; end0 returns what
//           was seen.
#pragma once

#include <jni.h>

extern "C" {
JNIEXPORT jlong JNICALL Java_heaprec_Probe_begin0(JNIEnv* jni, jclass, jint most_objects);
JNIEXPORT jobjectArray JNICALL Java_heaprec_Probe_end0(JNIEnv* jni, jclass, jlong probe);
}
