// Reports one object per thread and number of bytes to another agent (include/heaprec_sampling.h). Nothing is random,
// and nothing is recorded.
//
// The next object of a thread is the one that contains the due byte. If a hook sees the object, it forces its delivery;
// otherwise the JVM's own threshold is set to that byte. If the JVM drops an object, the next one replaces it.
//
// Context, Threads, Failure: as Source. Replace: setup. The callback belongs to the other agent and may call JNI and
// JVMTI.
#pragma once

#include <atomic>
#include <cstdint>

#include "include/heaprec_sampling.h"
#include "recorder/hotspot/metadata/names.h"
#include "recorder/hotspot/stacks/stack_walker.h"
#include "recorder/hotspot/threads/thread_layout.h"
#include "recorder/sources/callback/tracked_objects.h"
#include "recorder/sources/java/source.h"
#include "recorder/sources/java/thread_table.h"
#include "recorder/sources/sample/thread_fields.h"

namespace heaprec::sources {

struct CallbackSourceParts {
  const hotspot::ThreadLayout& layout;
  const ThreadFields& fields;
  ThreadTable& threads;
  const hotspot::Names& names;
  const hotspot::StackWalker* walker;  // null: what runs a frame is unknown
  uint32_t number;                     // number of the recording in this process
};

class CallbackSource final : public Source {
 public:
  // `how` is copied.
  CallbackSource(const CallbackSourceParts& parts, const heaprec_sampling& how);
  ~CallbackSource() override;

  // Uses `how` from now on. A thread inside the callback finishes that call with the old function.
  void Replace(const heaprec_sampling& how);
  // The tracked objects.
  TrackedObjects& tracked() { return tracked_; }

  void OnRefill(void* java_thread, uint64_t size) override;
  void OnOutside(void* java_thread, uint64_t size) override;
  void OnDelivered(const Delivered& object) override;

 private:
  struct How {
    heaprec_sampling_interval function;
    void* user;
    int64_t first_interval;
    const How* before;  // never freed before the source, because an allocating thread may still read it
  };
  static const How* Keep(const heaprec_sampling& how, const How* before);
  uint64_t First(const How& how);
  // Returns null if the table is full, or the thread has ended.
  ThreadEntry* Entry(void* java_thread, uint64_t allocated, uint64_t size);
  void OnCandidate(void* java_thread, uint64_t size, bool outside);
  void Give(const Delivered& object, uint64_t allocated, ThreadEntry& entry);

  const CallbackSourceParts parts_;
  const int depth_;
  const uint64_t started_ns_;
  std::atomic<const How*> how_;
  std::atomic<uint64_t> next_uid_{1}, draws_{0};
  TrackedObjects tracked_;
};

}  // namespace heaprec::sources
