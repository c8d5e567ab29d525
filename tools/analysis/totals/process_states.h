// Sums over the states of the process: CPU time, collections, native memory by the JVM's categories.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "format/reader/reader.h"

namespace heaprec::tools {

struct CpuSeconds {
  double process = 0;
  double collector = 0;  // the part of threads that collect garbage; 0: unknown
};

// The CPU time of a process while it was recorded, in total or within a part of that time.
//
//   CpuTimeline cpu;
//   cpu.Add(block);                                      // every block
//   const auto used = cpu.Between(from_ns, to_ns);
//
// The recorder reads the CPU time about once a second and at the end. It is interpolated between two readings, and
// extrapolated with the mean beyond the first and last one (the end of a recording that was cut off).
//
// Units:    ns since the start of the recording; seconds of CPU time.
// Failure:  no result without two readings at different times.
class CpuTimeline {
 public:
  void Add(const format::Block& block);
  std::optional<CpuSeconds> Between(uint64_t from_ns, uint64_t to_ns) const;

 private:
  struct Look {
    uint64_t time_ns, process_ns, collector_ns;
  };
  CpuSeconds At(uint64_t time_ns) const;

  std::vector<Look> looks_;  // in order of time
};

// Sums over the states of a recording: pauses, the heap after them, the peak of the process.
//
// Pauses for marking free nothing. These are: all pauses of ZGC and Shenandoah, pauses that the JVM does not count as a
// collection (G1's remark), and pauses that free nothing (G1's cleanup).
//
// Units:    bytes, ns. 0: unknown.
class GcSummary {
 public:
  GcSummary() = default;
  explicit GcSummary(const format::FileHeader& header);

  void Add(const format::Block& block);

  bool empty() const { return states_ == 0; }
  uint64_t pauses = 0, paused_ns = 0;
  uint64_t longest_pause_ns = 0;           // longest pause that was announced, not only counted
  bool counted_only = false;               // some pauses were only counted: they have no beginning and no heap before
  bool unfinished = false;                 // the latest one has begun but not ended
  std::map<std::string, uint64_t> causes;  // pauses by cause, as HotSpot spells it
  uint64_t first_after = 0, last_after = 0, most_after = 0;  // heap used after a collection that reclaimed memory
  uint64_t most_after_ns = 0;                                // when the heap was so large
  uint64_t most_used = 0, most_committed = 0, most_rss = 0, most_threads = 0;
  uint64_t most_rss_ns = 0;  // when it was first so large

 private:
  // Whether this pause has reclaimed dead objects.
  bool HasReclaimed(const format::ProcessState& ended);

  bool is_concurrent_ = false;
  uint64_t states_ = 0, collections_ = 0;
  uint64_t begun_used_ = 0;  // before the current pause; 0: unknown
  uint64_t ended_ns_ = 0;    // end of the latest pause
};

struct CategoryBytes {
  uint64_t reserved = 0, committed = 0;
};

struct MemorySnapshot {
  uint64_t time_ns = 0;
  uint64_t rss = 0, pss = 0, not_shared = 0;        // of the whole process
  std::map<std::string, CategoryBytes> categories;  // as the JVM spells them, in UTF-8; "Total" is their sum
};

// Native memory of a JVM over time: the JVM's own categories, and the process as the kernel sees it.
//
// Units:    bytes, ns since the start of the recording. 0: unknown.
class MemoryTimeline {
 public:
  void Add(const format::Block& block);
  bool has_snapshots() const { return !snapshots_.empty() || !of_heap_.empty(); }
  // Ascending in time. A recording without memory snapshots has the RSS of its heap snapshots.
  std::vector<MemorySnapshot> Snapshots() const;

 private:
  std::map<uint64_t, MemorySnapshot> snapshots_, of_heap_;
};

}  // namespace heaprec::tools
