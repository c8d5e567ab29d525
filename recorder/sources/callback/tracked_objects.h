// Sampled objects of another agent, tracked by weak references until they are found dead. Keeps the latest dead objects
// and a random sample of all dead ones.
//
// Bound:    never more weak references than requested. Once the table is full, each new object replaces a random one
//           with probability capacity / seen.
// Context:  Track: alloc, inside a JVMTI callback (JNI is legal). It does not wait: while another thread holds the
//           lock, the object is counted but not tracked. ForEach, Clear: setup, an attached thread.
// Threads:  any.
// Failure:  without heap for the table, or without a weak reference, an object is counted but not tracked. Names of
//           frames: as in FrameNames.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "include/heaprec_sampling.h"
#include "recorder/hotspot/metadata/names.h"
#include "throttle/random.h"

namespace heaprec::sources {

// Copies of the names of sampled frames, which remain valid after their classes are unloaded.
//
// Bound:    kMaxFrames, kMaxMethods and kTextBytes; beyond these nothing is stored until Retain has removed names.
// Context:  setup: allocates all heap memory in advance. Has, Add: alloc. Find, Retain: setup.
// Threads:  one at a time.
// Failure:  none: a frame that is not stored has no names.
class FrameNames {
 public:
  // is_needed false: stores nothing, and uses no heap.
  explicit FrameNames(bool is_needed);

  struct Method {
    std::string_view class_name, name, file;
  };
  bool Has(const heaprec_frame& frame) const { return frames_[FrameSlot(frame)].method != nullptr; }
  bool HasMethod(const void* method) const { return methods_[MethodSlot(method)].id != nullptr; }
  // Adds the method of a frame; call it once, before AddFrame. Copies the texts.
  void AddMethod(void* method, const Method& names);
  void Add(const heaprec_frame& frame, int32_t line);

  // Pointers are valid until Retain. class_name is null if the frame is unknown.
  heaprec_frame_name Find(const heaprec_frame& frame) const;

  bool IsHalfFull() const;
  // Keeps only the names of frames for which `for_each_used(visit)` calls visit(heaprec_frame).
  template <typename ForEachUsed>
  void Retain(const ForEachUsed& for_each_used) {
    FrameNames kept(true);
    for_each_used([&](const heaprec_frame& frame) { kept.CopyFrom(*this, frame); });
    *this = std::move(kept);
  }

  static constexpr size_t kMaxFrames = 1 << 15, kMaxMethods = 1 << 13, kTextBytes = 1 << 20;

 private:
  // Offsets into texts_ of zero-terminated texts.
  struct KnownMethod {
    void* id = nullptr;
    uint32_t class_name = 0, name = 0, file = 0;
  };
  struct KnownFrame {
    void* method = nullptr;
    int64_t location = 0;
    int32_t line = 0;
  };
  // Returns the slot that contains the frame, or the free slot for it.
  size_t FrameSlot(const heaprec_frame& frame) const;
  size_t MethodSlot(const void* method) const;
  uint32_t Append(std::string_view text);
  void CopyFrom(const FrameNames& other, const heaprec_frame& frame);

  // Open addressing; never full, because some slots always stay free.
  std::vector<KnownMethod> methods_;
  std::vector<KnownFrame> frames_;
  std::unique_ptr<char[]> texts_;
  size_t method_count_ = 0, frame_count_ = 0, text_bytes_ = 0;
};

class TrackedObjects {
 public:
  // Context: setup: allocates all heap memory in advance.
  TrackedObjects(int capacity, int depth, const hotspot::Names& names);

  // Call while the methods of the trace's frames are on the calling thread's stack.
  void Track(jvmtiEnv* jvmti, JNIEnv* jni, jobject object, const heaprec_trace& trace);
  // First checks all objects, so that those that are already dead become garbage traces.
  int64_t ForEach(JNIEnv* jni, int which, heaprec_visit visit, void* user);
  // Deletes all references. From then on Track does nothing, because a thread may still be in the callback of its last
  // sample.
  void Clear(JNIEnv* jni);

  uint64_t untracked() const { return untracked_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kSignatureBytes = 256;
  struct Trace {
    heaprec_trace fields{};
    char signature[kSignatureBytes];
    std::vector<heaprec_frame> frames;  // as long as the deepest stack
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
  std::vector<size_t> free_;  // free indices of tracked_
  bool is_cleared_ = false;   // guarded by the lock
  size_t next_look_ = 0;
  uint64_t seen_ = 0, found_dead_ = 0;
  const hotspot::Names& vm_names_;
  FrameNames names_;
  throttle::Random random_{0x9E3779B97F4A7C15};
};

}  // namespace heaprec::sources
