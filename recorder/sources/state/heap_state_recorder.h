// Commits states of heap, collector and process: at the beginning and end of each collection, and about once a second.
//
// Units:    bytes, ns of CLOCK_MONOTONIC.
// Context:  OnGcBegin, OnGcEnd: gc: a thread of the JVM, while all Java threads are stopped. They only load words and
//           write to a lane. OnTick: drain.
// Threads:  each function: one at a time; CommitMemory: any number.
// Failure:  a state without a free lane is lost, and leaves a gap in the ids.
// Format:   docs/format/recording.md#states
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "format/model/process_account.h"
#include "format/ring/ring_records.h"
#include "recorder/buffer/ring.h"
#include "recorder/hotspot/usage/heap_meter.h"
#include "recorder/hotspot/usage/jvm_meter.h"
#include "recorder/sources/state/process_meter.h"

namespace heaprec::sources {

struct CpuTimes {
  uint64_t process_ns = 0;    // since the start of the process
  uint64_t collector_ns = 0;  // of the collector's threads; never decreases
};

// Reads the CPU time of this process, and of its garbage-collecting threads. Times that the kernel does not report are
// 0. After a thread has ended, its last time still counts.
//
// The JVM's names of its threads are known to the kernel. They are read rarely, because each needs a file; the clocks
// of the collector's threads are read each time.
//
// Context:  drain.
class CpuMeter {
 public:
  CpuTimes Read(uint64_t now_ns);

  // Whether HotSpot gives this name, in the kernel's form (15 bytes), to a garbage-collecting thread.
  static bool IsCollector(std::string_view thread_name);

 private:
  struct Thread {
    pid_t id = 0;
    uint64_t cpu_ns = 0;
    bool has_ended = false;
  };
  void FindCollectors();

  std::vector<Thread> collectors_;
  uint64_t next_search_ns_ = 0, search_period_ns_ = 0;
};

class HeapStateRecorder {
 public:
  // All arguments must outlive it.
  HeapStateRecorder(buffer::Ring& ring, const hotspot::HeapMeter& meter, const hotspot::JvmMeter& usage);

  void OnGcBegin();
  void OnGcEnd();
  // Returns the CPU time of the process if it was read now, which happens once a second.
  std::optional<uint64_t> OnTick(uint64_t now_ns);
  // Reads the CPU times for the last time, so that they cover the whole recording. Context: drain, after the last
  // OnTick.
  void OnEnd(uint64_t now_ns) { (void)CommitCpu(now_ns); }
  // A row of ProcessStateKind::kMemory. Threads: any.
  struct Memory {
    std::string_view category;  // empty: the whole process
    uint64_t used, committed, rss;
  };
  void CommitMemory(uint64_t time_ns, const Memory& memory);
  // The next snapshots have these items, too. Any thread.
  void Post(const format::ProcessAccount& items);
  // Where events get their ids: they are of one sequence with the states.
  std::atomic<uint64_t>* ids() { return &next_id_; }
  // Marks what is live now as what filled the heap, unless that was marked ten minutes ago or less; `anyway`: even
  // then. Any context.
  void MarkHeapFull(uint64_t used, uint64_t largest, std::string_view why, bool anyway = false);
  // When it was last marked; 0: never. Any thread.
  uint64_t marked_ns() const { return marked_ns_.load(std::memory_order_relaxed); }
  // From now on failed starts of threads are counted. Setup.
  void ExpectFailedStarts() { counts_failed_starts_ = true; }
  void CountFailedStart() { failed_starts_.fetch_add(1, std::memory_order_relaxed); }
  // The used bytes of the heap. Any context.
  uint64_t HeapUsed() const { return meter_.Used(); }
  // As CgroupMeter. Setup.
  const CgroupMeter& cgroup() const { return process_.cgroup(); }
  // Pauses that have ended so far. Any thread.
  uint64_t pauses() const { return pauses_.load(std::memory_order_relaxed); }
  // The JVM's count of collections when the latest of these pauses ended. Threads: any.
  uint64_t paused_in() const { return paused_in_.load(std::memory_order_acquire); }

 private:
  void Fill(format::ProcessStateKind kind, uint64_t now_ns, format::StateRecord* into) const;
  void Commit(format::ProcessStateKind kind, uint64_t now_ns, format::StateRecord record);
  std::optional<uint64_t> CommitCpu(uint64_t now_ns);
  void Write(format::StateRecord record);
  void CommitSnapshot(uint64_t now_ns);
  void NoteOldGeneration();

  buffer::Ring& ring_;
  const hotspot::HeapMeter& meter_;
  const hotspot::JvmMeter& usage_;
  ProcessMeter process_;
  std::mutex mutex_;  // of posted_: taken by threads of the agent only
  format::ProcessAccount posted_;
  // Of the pauses that collect.
  std::optional<uint64_t> old_collections_;  // the last one whose result was noted
  uint64_t concurrent_pauses_ = 0;
  std::atomic<uint64_t> old_after_collection_{0};  // Amount::code
  std::atomic<uint64_t> marked_ns_{0};             // when the heap was last marked as full
  std::atomic<uint64_t> failed_starts_{0};
  bool counts_failed_starts_ = false;
  std::atomic<uint64_t> next_id_{1};
  std::atomic<uint64_t> pauses_{0};
  std::atomic<uint64_t> paused_in_{0};  // the release pairs with the acquire in paused_in
  uint64_t gc_begin_ns_ = 0;            // of the current collection; 0: none
  uint64_t last_periodic_ns_ = 0;
  CpuMeter cpu_;
};

// Null: not recording. Freed after a later safepoint, when the collecting thread has left it.
extern std::atomic<HeapStateRecorder*> active_heap_states;

}  // namespace heaprec::sources
