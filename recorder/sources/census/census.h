// Counts the objects in TLABs that are retired, and the objects outside of TLABs, by class: all of them, or a random
// selection with known probabilities.
//
// A TLAB is walked, by its own thread or by a collector, before the JVM retires it, while its objects have not moved.
// In a TLAB that was in use when the census began, only later objects count. At the end TLABs in use are walked at a
// safepoint.
//
// Context:  AroundRetirement: alloc or gc. AtOutside: alloc. They use no heap and wait for no lock. StartAtSafepoint:
//           at a safepoint, when no thread retires TLABs. Make, RegisterThreads: setup. CountInUse, End: any attached
//           thread. OnTick: drain. OnThreadStart, OnThreadEnd: inside those events.
// Threads:  any.
// Failure:  bytes that are not counted by class are in other counters (format::CensusCounters).
// Maths:    docs/streams.md#census
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/time.h"
#include "format/model/census.h"
#include "recorder/buffer/ring.h"
#include "recorder/hotspot/metadata/names.h"
#include "recorder/hotspot/metadata/object_layout.h"
#include "recorder/hotspot/threads/thread_layout.h"
#include "recorder/sources/census/census_writer.h"
#include "recorder/sources/jvm/jvm.h"
#include "recorder/sources/part.h"
#include "recorder/sources/window_publisher.h"

namespace heaprec::sources {

// Number of probes and censuses that walk TLABs before they are retired. If it is 0, a retirement costs a
// load and a branch.
inline std::atomic<uint32_t> retirement_watchers{0};

struct CensusDraw {
  throttle::ControllerConfig config;  // counts TLABs and objects outside, not bytes
  uint32_t most_per_second = 0;
  uint64_t seed = 0;
};

class Census final : public Part {
 public:
  // All arguments must outlive the census, and the ring must have census pages. draw: nullopt: walks everything.
  // Returns an Error with the reason if this JVM cannot be counted.
  static Result<std::unique_ptr<Census>> Make(const Jvm& jvm, buffer::Ring& ring, const std::optional<CensusDraw>& draw,
                                              uint64_t start_ns);

  // Registers the current threads, and threads that start later.
  void RegisterThreads(JNIEnv* jni);
  // Activates the census: from now on it is informed of retirements and outside objects.
  void StartAtSafepoint();
  // Counts the TLABs in use. Returns an Error if the threads cannot be stopped for that, or the census has ended.
  Status CountInUse();
  // Ends the census. Counts the TLABs in use while the threads are stopped; if they cannot be stopped, counts these
  // TLABs as unvisited. Idempotent. Differs from Stop, which must work without the JVM.
  void End(JNIEnv* jni);
  bool is_active() const { return active.load(std::memory_order_relaxed) == this; }

  void Describe(format::FileHeader* header) const override;
  void OnTick(uint64_t now_ns) override;

  static void OnThreadStart(const Jvm& jvm, JNIEnv* jni, jthread thread);
  static void OnThreadEnd(const void* java_thread);

  // The hooks. retire() retires the TLAB.
  template <typename Retire>
  static void AroundRetirement(const void* tlab, const Retire& retire) {
    // Acquire: sees the complete census (pairs with the release in StartAtSafepoint).
    Census* const census = active.load(std::memory_order_acquire);
    if (census == nullptr || retiring == tlab) return retire();
    retiring = tlab;
    census->LookAt(tlab);
    retire();
    retiring = nullptr;
  }
  static void AtOutside(const void* java_thread, const void* klass, uint64_t bytes) {
    if (Census* const census = active.load(std::memory_order_acquire)) census->OnOutside(java_thread, klass, bytes);
  }
  // Stops counting in a forked child.
  static void Abandon() { active.store(nullptr, std::memory_order_relaxed); }

 private:
  using Count = format::CensusCount;
  // How much of a TLAB was used when the census began, or last walked it.
  struct Mark {
    const void* tlab = nullptr;
    std::atomic<uint64_t> used{0};
  };

  Census(const Jvm& jvm, buffer::Ring& ring, const hotspot::ObjectLayout& objects, const CensusThreads& directory,
         const std::optional<CensusDraw>& draw, uint64_t start_ns);
  void CountAtSafepoint();
  void StopAtSafepoint();
  void EndRunning(const std::vector<void*>& threads);
  bool NoteUse();
  void LookAt(const void* tlab);
  void OnOutside(const void* java_thread, const void* klass, uint64_t bytes);
  void Walk(const void* java_thread, uint64_t begin, uint64_t end, double weight);
  void Publish(const void* java_thread, double weight, std::span<const ClassCounts::Entry> found, uint64_t bytes);
  Mark* MarkOf(const void* tlab) const;
  uint64_t TakeMark(const void* tlab);
  // Returns the weight of a candidate that is selected; 0: it is not selected.
  double Draw(uint64_t bytes);
  double LeftOf(uint64_t now_ns) const;
  bool TryReserveWalk(uint64_t now_ns);
  uint64_t SecondOf(uint64_t now_ns) const { return (now_ns > start_ns_ ? now_ns - start_ns_ : 0) / kNsPerSecond; }
  void Add(Count what, uint64_t n) {
    counters_.counters[static_cast<size_t>(what)].fetch_add(n, std::memory_order_relaxed);
  }

  static std::atomic<Census*> active;
  // The JVM's functions that retire a TLAB may call one another.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local const void* retiring;

  const Jvm& jvm_;
  format::RingCensus& counters_;
  const hotspot::ThreadLayout& threads_;
  const hotspot::ObjectLayout objects_;
  CensusWriter writer_;
  const uint64_t start_ns_;
  std::unique_ptr<WindowPublisher> windows_;  // null: walks everything
  uint32_t most_per_second_ = 0;
  uint64_t seed_ = 0;
  std::atomic<uint64_t> draws_{0};
  std::atomic<uint64_t> turns_{0};  // (second << 32) | walks started in that second
  std::unique_ptr<Mark[]> marks_;   // open addressing; a power of two, at most half full
  size_t mark_slots_ = 0;
  std::atomic<size_t> marks_left_{0};
  std::mutex ending_;
};

}  // namespace heaprec::sources
