// Commits what the process has in memory beside the heap: the JVM's own categories, and the kernel's view of the
// process.
//
// Either look can hold others up for as long as it takes: the JVM waits for our thread before it stops the world, and
// who maps memory waits for the kernel's. So looks take no more than one part in kMaxShare of the time, and nobody is
// asked again who took longer than kMaxNs.
//
// Units:    ns of CLOCK_MONOTONIC, bytes.
// Context:  one thread of ours; Look with a JNIEnv: attached, in native state.
// Failure:  a row that finds no lane is lost; the gap in the ids tells. What could not be asked is said once.
// Format:   docs/format/recording.md#states
#pragma once

#include <jni.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "recorder/hotspot/usage/nmt_summary.h"
#include "recorder/sources/state/heap_state_recorder.h"

namespace heaprec::sources {

class MemoryPoller {
 public:
  static constexpr uint64_t kMaxNs = 1'000'000'000;
  static constexpr uint64_t kMaxShare = 100;  // of the time: one part in so many

  // `rows` outlives it. `summary`: none where the JVM does not track its memory.
  MemoryPoller(HeapStateRecorder& rows, std::optional<hotspot::NmtSummary> summary, uint64_t period_ns)
      : rows_(rows), summary_(summary), period_ns_(period_ns) {}

  bool asks_jvm() const { return summary_.has_value(); }
  // Looks if it is time. `jni`: may be null where the JVM is not asked. An Error: something is not asked any more.
  format::Result<std::monostate> Tick(JNIEnv* jni, uint64_t now_ns);

 private:
  void LookAtJvm(JNIEnv* jni, uint64_t time_ns, std::string* why);
  void LookAtProcess(uint64_t time_ns);

  HeapStateRecorder& rows_;
  std::optional<hotspot::NmtSummary> summary_;
  const uint64_t period_ns_;
  uint64_t next_ns_ = 0;
  bool asks_kernel_ = true;
};

}  // namespace heaprec::sources
