// The process on the time axis of the samples: heap, collections, threads, memory.
//
// Units:    time in ns since the start of the recording unless the name says otherwise; sizes in bytes.
// Format:   docs/format/recording.md#states
#pragma once

#include <cstdint>
#include <string>

namespace heaprec::format {

// What a look at the process showed: heap, collector, threads, memory. A value of 0 is not known.
// docs/format/recording.md#states
enum class ProcessStateKind : uint8_t {
  kSnapshot = 0,   // about once a second
  kGcBegin = 1,    // the JVM stands still and begins to collect
  kGcEnd = 2,      // it has, and is about to go on
  kGcCounted = 3,  // pauses that the JVM counts but does not announce, since the look before
  kMemory = 4,     // what is beside the heap: a category of the JVM's own, or the process as the kernel sees it
  kCpu = 5         // CPU time of the process, about once a second
};
inline constexpr int kProcessStateKinds = 6;
// Whether used and committed bytes of a row are the heap's.
inline constexpr bool IsOfHeap(ProcessStateKind kind) {
  return kind != ProcessStateKind::kMemory && kind != ProcessStateKind::kCpu;
}

struct ProcessState {
  uint64_t id = 0;  // from 1 without gaps: a number that is missing was lost
  uint64_t time_ns = 0;
  ProcessStateKind kind = ProcessStateKind::kSnapshot;
  // Bytes of the heap. kMemory: reserved, and committed, of the category; of the process its share of what it has in
  // memory (PSS), and what nobody shares. kCpu: ns of CPU time since the start of the process, of all its threads, and
  // of the threads that collect.
  uint64_t used = 0, committed = 0;
  uint64_t pauses = 0;       // kGcEnd: 1; kGcCounted: how many
  uint64_t paused_ns = 0;    // in all of them
  uint64_t threads = 0;      // live Java threads
  uint64_t rss = 0;          // resident bytes of the process
  uint64_t collections = 0;  // that the JVM has completed, or is about to, since its start
  std::string cause;  // kGcEnd, and kGcBegin if it is known by then: as HotSpot has it; kMemory: category, or empty
  bool operator==(const ProcessState&) const = default;
};

}  // namespace heaprec::format
