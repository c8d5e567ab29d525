// Commits snapshots of the process's native memory: the JVM's NMT categories, and the kernel's values.
//
// Each snapshot can delay other threads while it is taken: the JVM waits for this thread before a safepoint, and
// threads that map memory wait for the kernel. So snapshots take at most 1/kMaxShare of the time, and a source that
// took longer than kMaxNs is not used again.
//
// Units:    ns of CLOCK_MONOTONIC, bytes.
// Context:  one thread of the agent; for Tick with a JNIEnv: attached, in native state.
// Failure:  a row without a free lane is lost and leaves a gap in the ids. A source that fails is reported once.
// Format:   docs/format/recording.md#states
#pragma once

#include <jni.h>

#include <cstdint>
#include <optional>
#include <string>

#include "recorder/hotspot/usage/nmt_summary.h"
#include "recorder/sources/agent_thread.h"
#include "recorder/sources/part.h"
#include "recorder/sources/state/heap_state_recorder.h"

namespace heaprec::sources {

class MemoryPoller {
 public:
  static constexpr uint64_t kMaxNs = 1'000'000'000;
  static constexpr uint64_t kMaxShare = 100;  // snapshots take at most 1/100 of the time

  // `rows` must outlive the poller. `summary`: nullopt if NMT is off.
  MemoryPoller(HeapStateRecorder& rows, std::optional<hotspot::NmtSummary> summary, uint64_t period_ns)
      : rows_(rows), summary_(summary), period_ns_(period_ns) {}

  bool asks_jvm() const { return summary_.has_value(); }
  // Takes a snapshot if it is due. `jni`: may be null unless asks_jvm(). Returns an Error if a source will not be used
  // again.
  Status Tick(JNIEnv* jni, uint64_t now_ns);

 private:
  void LookAtJvm(JNIEnv* jni, uint64_t time_ns, std::string* why);
  void LookAtProcess(uint64_t time_ns);

  HeapStateRecorder& rows_;
  std::optional<hotspot::NmtSummary> summary_;
  const uint64_t period_ns_;
  uint64_t next_ns_ = 0;
  bool asks_kernel_ = true;
};

// Polls on its own thread, which is attached to the JVM, as a daemon, only if the JVM tracks its native memory. After
// Stop the thread is no longer attached.
class MemorySnapshots final : public Part {
 public:
  // `rows` must outlive this; other arguments as for MemoryPoller.
  MemorySnapshots(JavaVM* vm, HeapStateRecorder& rows, std::optional<hotspot::NmtSummary> summary, uint64_t period_ns)
      : vm_(vm), poller_(rows, summary, period_ns), thread_("heaprec-memory", [this] { Poll(); }) {}

  Status Activate() override { return thread_.Start(); }
  void Stop() override { thread_.Stop(); }
  bool TryJoin() override { return thread_.TryJoin(); }

 private:
  void Poll();

  JavaVM* const vm_;
  MemoryPoller poller_;
  StoppableThread thread_;
};

}  // namespace heaprec::sources
