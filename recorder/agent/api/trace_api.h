// Entry points for sampling by heaprec.Heaprec of Java: random points in bytes, tracked objects, traces as arrays.
//
// Context:  any thread of the application, in native.
// Failure:  sample0 returns the reason as a sentence; traces0 throws an IllegalStateException.
#pragma once

#include <jni.h>

extern "C" {
// every_bytes 0: stops sampling. Returns null on success.
JNIEXPORT jstring JNICALL Java_heaprec_Heaprec_sample0(JNIEnv* jni, jclass, jlong every_bytes, jint tracked);
// Returns for each trace its class, its numbers (uid, bytes, thread id, age in ns), its weight, and its number of
// frames in `stacks`, where the frames of all traces follow one another. Then the frames (class, method, file: "" if
// unknown) and their lines.
JNIEXPORT jobjectArray JNICALL Java_heaprec_Heaprec_traces0(JNIEnv* jni, jclass, jint which);
}
