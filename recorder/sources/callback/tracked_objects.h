// Sampled objects of another agent, tracked by weak references until they are found dead. Of the dead ones the latest
// and a random sample are kept.
//
// Bound:    never more weak references than requested. Once the table is full, each new object replaces a random one
//           with probability capacity / seen.
// Context:  Track: alloc, inside a JVMTI callback (JNI is legal). It does not wait: while another thread works here,
//           the object is counted but not tracked. ForEach, Clear: setup, an attached thread.
// Threads:  any.
// Failure:  without heap for the table, or without a weak reference, an object is counted but not tracked. Names of
//           frames: as FrameNames.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "include/heaprec_sampling.h"
#include "recorder/hotspot/metadata/names.h"
#include "recorder/sources/callback/frame_names.h"
#include "throttle/random.h"

namespace heaprec::sources {

class TrackedObjects {
 public:
  // Context: setup: allocates all the heap that it will ever need.
  TrackedObjects(int capacity, int depth, const hotspot::Names& names);

  // Call while the methods of the trace's frames are on the calling thread's stack.
  void Track(jvmtiEnv* jvmti, JNIEnv* jni, jobject object, const heaprec_trace& trace);
  // First checks all objects, so that those that are dead by now are garbage.
  int64_t ForEach(JNIEnv* jni, int which, heaprec_visit visit, void* user);
  // Deletes all references. From then on Track does nothing: a thread may still be in the callback of its last sample.
  void Clear(JNIEnv* jni);

  uint64_t untracked() const { return untracked_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kSignatureBytes = 256;
  struct Trace {
    heaprec_trace fields{};
    char signature[kSignatureBytes];
    std::vector<heaprec_frame> frames;  // room for the deepest stack
    jweak object = nullptr;
  };

  // Called under the lock.
  Trace* Put(JNIEnv* jni, jobject object, const heaprec_trace& trace, bool* failed);
  void KeepNames(jvmtiEnv* jvmti, JNIEnv* jni, const Trace& trace);
  void KeepMethod(jvmtiEnv* jvmti, JNIEnv* jni, void* method);
  void ForgetNames();
  size_t FindFreeEntry();
  void Look(JNIEnv* jni, size_t index);
  void MarkDead(Trace& dead);
  static void Copy(const heaprec_trace& from, Trace* into);
  static std::vector<Trace> Room(size_t count, int depth);

  const size_t capacity_;
  std::atomic_flag busy_;
  std::atomic<uint64_t> untracked_{0};
  std::vector<Trace> tracked_, recent_, sampled_;
  std::vector<size_t> free_;  // indices of tracked_
  bool is_cleared_ = false;   // under the lock
  size_t next_look_ = 0;
  uint64_t seen_ = 0, found_dead_ = 0;
  const hotspot::Names& vm_names_;
  FrameNames names_;
  throttle::Random random_{0x9E3779B97F4A7C15};
};

}  // namespace heaprec::sources
