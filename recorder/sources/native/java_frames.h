// The Java frames below a call of malloc, where they can be read: in a native method, whether its native code requests
// memory or the JVM does so for it (Unsafe.allocateMemory).
//
// Context:  alloc, inside malloc's family, on any thread in any state. No JNI but GetEnv, no JVMTI, no safepoint.
// Threads:  any.
// Failure:  none: there are then no Java frames.
#pragma once

#include <jni.h>

#include "recorder/hotspot/stacks/stack_walker.h"
#include "recorder/hotspot/threads/thread_of_env.h"
#include "recorder/sources/native/native_source.h"
#include "recorder/sources/sample/sample_writer.h"

namespace heaprec::sources {

class WalkedJavaFrames final : public JavaFrames {
 public:
  // All arguments must outlive it. `capture` describes the frames.
  WalkedJavaFrames(JavaVM* vm, const hotspot::ThreadOfEnv& thread_of, const hotspot::StackWalker& walker,
                   SampleWriter& capture)
      : vm_(vm), thread_of_(thread_of), walker_(walker), capture_(capture) {}

  void Take(NativePoint* point) override;

 private:
  JavaVM* const vm_;
  const hotspot::ThreadOfEnv& thread_of_;
  const hotspot::StackWalker& walker_;
  SampleWriter& capture_;
};

}  // namespace heaprec::sources
