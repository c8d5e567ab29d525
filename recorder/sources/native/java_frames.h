// The Java frames below a call of malloc, where they can be read: in a native method, whether its native code requests
// memory or the JVM does so for it (Unsafe.allocateMemory).
//
// Context:  alloc, inside malloc's and mmap's families, on any thread in any state. No JNI, no JVMTI, no safepoint.
// Threads:  any.
// Failure:  none: there are then no Java frames.
#pragma once

#include "recorder/hotspot/stacks/stack_walker.h"
#include "recorder/hotspot/threads/current_thread.h"
#include "recorder/sources/native/native_source.h"
#include "recorder/sources/sample/sample_writer.h"

namespace heaprec::sources {

class WalkedJavaFrames final : public JavaFrames {
 public:
  // All arguments must outlive it. `capture` describes the frames.
  WalkedJavaFrames(const hotspot::CurrentThread& current, const hotspot::StackWalker& walker, SampleWriter& capture)
      : current_(current), walker_(walker), capture_(capture) {}

  void Take(NativePoint* point) override;

 private:
  const hotspot::CurrentThread current_;
  const hotspot::StackWalker& walker_;
  SampleWriter& capture_;
};

}  // namespace heaprec::sources
