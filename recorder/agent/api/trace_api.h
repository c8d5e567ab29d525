// Where heaprec.Heaprec of Java samples: points that are drawn in bytes, objects tracked, traces as arrays.
//
// Context:  any thread of the application, in native.
// Failure:  sample0 gives the reason as a sentence; traces0 throws an IllegalStateException.
#pragma once

#include <jni.h>

extern "C" {
// every_bytes 0: the end. Null: it is as asked.
JNIEXPORT jstring JNICALL Java_heaprec_Heaprec_sample0(JNIEnv* jni, jclass, jlong every_bytes, jint tracked);
// Of each trace its class, its numbers (uid, bytes, thread id, age in ns), its weight, and how many of the frames that
// stand in `stacks` one after another are its; then the frames (class, method, file: "" if it is not known) and their
// lines.
JNIEXPORT jobjectArray JNICALL Java_heaprec_Heaprec_traces0(JNIEnv* jni, jclass, jint which);
}
