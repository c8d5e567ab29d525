// Gives another agent one object of each thread every so many bytes (include/heaprec_sampling.h): nothing is drawn,
// nothing recorded.
//
// A thread's next object is that which holds the byte it is due at: the hooks force it where they see it, the JVM's own
// threshold is set to it where they do not. An object that the JVM drops is made up for by the next.
//
// Context, Threads, Failure: as Source. Replace: setup. The callback is the other agent's and may call JNI and JVMTI.
#pragma once

#include <atomic>
#include <cstdint>

#include "include/heaprec_sampling.h"
#include "recorder/hotspot/metadata/names.h"
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
  uint32_t number;  // among the recordings of this process
};

class CallbackSource final : public Source {
 public:
  // `how` is copied.
  CallbackSource(const CallbackSourceParts& parts, const heaprec_sampling& how);
  ~CallbackSource() override;

  // From now on; a thread that is inside the callback ends its turn with the old one.
  void Replace(const heaprec_sampling& how);
  // Of those that are tracked.
  TrackedObjects& tracked() { return tracked_; }

  void OnRefill(void* java_thread, uint64_t size) override;
  void OnOutside(void* java_thread, uint64_t size) override;
  void OnDelivered(const Delivered& object) override;

 private:
  struct How {
    heaprec_sampling_interval function;
    void* user;
    int64_t first_interval;
    const How* before;  // an allocating thread may still read it: kept as long as the source
  };
  static const How* Keep(const heaprec_sampling& how, const How* before);
  uint64_t First(const How& how);
  // Null: the table is full, or the thread has ended.
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
