// The state of the process over time: heap, collections, threads, memory.
//
// Units:    time in ns since the start of the recording unless the name says otherwise; sizes in bytes.
// Format:   docs/format/recording.md#states
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace heaprec::format {

// What a snapshot of the process contains. A field of 0 is unknown. docs/format/recording.md#states
enum class ProcessStateKind : uint8_t {
  kSnapshot = 0,   // about once a second
  kGcBegin = 1,    // the JVM has stopped its threads and begins to collect
  kGcEnd = 2,      // the JVM has collected and is about to resume its threads
  kGcCounted = 3,  // pauses since the previous snapshot that the JVM counts but does not announce
  kMemory = 4,     // kMemory: one category of native memory tracking (NMT), or the whole process as the kernel sees it
  kCpu = 5         // CPU time of the process, about once a second
};
inline constexpr int kProcessStateKinds = 6;
// Whether `used` and `committed` of a row refer to the heap.
inline constexpr bool IsOfHeap(ProcessStateKind kind) {
  return kind != ProcessStateKind::kMemory && kind != ProcessStateKind::kCpu;
}

struct ProcessState {
  uint64_t id = 0;  // from 1 without gaps: if a number is missing, the row was lost
  uint64_t time_ns = 0;
  ProcessStateKind kind = ProcessStateKind::kSnapshot;
  // Bytes of the heap. kMemory of a category: its reserved bytes (used) and committed bytes. kMemory of the process:
  // its proportional share of resident memory (PSS), and its private memory. kCpu: CPU time in ns since the start of
  // the process, of all its threads, and of the collector's threads.
  uint64_t used = 0, committed = 0;
  uint64_t pauses = 0;       // kGcEnd: 1; kGcCounted: their number
  uint64_t paused_ns = 0;    // total duration of these pauses
  uint64_t threads = 0;      // live Java threads
  uint64_t rss = 0;          // resident bytes of the process
  uint64_t collections = 0;  // collections since the start of the JVM; each counts from its beginning
  // How many of these also searched the old generation for dead objects; nullopt: unknown, or there is no old
  // generation.
  std::optional<uint64_t> old_collections;
  std::string cause;  // kGcEnd, and kGcBegin if it is known by then: as HotSpot spells it; kMemory: category, or empty
  bool operator==(const ProcessState&) const = default;
};

}  // namespace heaprec::format
