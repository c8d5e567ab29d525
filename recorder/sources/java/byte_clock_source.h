// source=hooks: the armed byte clock. Sample points are random in bytes; the JVM delivers the object that contains
// one.
// Without hooks (source=jvmti) the same clock is updated at deliveries only.
//
// Context, Threads, Failure: as Source.   Maths: docs/sampler.md#byte-clock
#pragma once

#include "recorder/sources/java/source.h"

namespace heaprec::sources {

class ByteClockSource final : public RecordingSource {
 public:
  ByteClockSource(const SourceParts& parts, bool hooked) : RecordingSource(parts), hooked_(hooked) {}
  void OnRefill(void* java_thread, uint64_t size) override;
  void OnOutside(void* java_thread, uint64_t size) override;
  void OnDelivered(const Delivered& object) override;
  void OnThreadStart(void* java_thread) override;
  void BeginStackChunk() override;
  void EndStackChunk() override;

 private:
  throttle::ActiveWindow AtStart() const override { return parts_.windows.Read(); }
  format::Kind KindOf(const Delivered& object, const ThreadEntry& entry) const;
  // The slow part of the hook.
  void Refill(void* java_thread, uint64_t size);
  void Outside(void* java_thread, uint64_t size);
  // Returns the caller's entry, if it was started for this recording.
  ThreadEntry* Started(const void* java_thread) {
    ThreadEntry* entry = parts_.threads.Find(java_thread);
    const bool is_ours = entry != nullptr && entry->recording.load(std::memory_order_relaxed) == parts_.recording;
    return is_ours ? entry : nullptr;
  }
  // Returns the calling thread's entry; nullptr: it has none, or was not started for this recording.
  ThreadEntry* CallingThread() {
    ThreadEntry* entry = own_entry.entry;
    return entry == nullptr ? nullptr : Started(entry->java_thread.load(std::memory_order_relaxed));
  }
  void Apply(void* java_thread, ThreadEntry& entry, const throttle::HookDecision& decision, uint64_t size,
             bool outside);

  const bool hooked_;
};

}  // namespace heaprec::sources
