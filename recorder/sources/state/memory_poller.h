// Reads what costs more than a counter: the JVM's NMT categories, the kernel's numbers of mappings, and the fields in
// which the JDK counts buffers. Categories and the kernel's sums become rows; the rest goes into the next snapshots.
//
// Each look can delay other threads while it is taken: the JVM waits for this thread before a safepoint, and threads
// that map memory wait for the kernel. So looks take at most 1/kMaxShare of the time, and a source that took longer
// than kMaxNs is not used again.
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
#include <utility>

#include "recorder/hotspot/usage/buffer_pools.h"
#include "recorder/hotspot/usage/jvm_meter.h"
#include "recorder/hotspot/usage/nmt_summary.h"
#include "recorder/sources/agent_thread.h"
#include "recorder/sources/part.h"
#include "recorder/sources/state/heap_state_recorder.h"
#include "recorder/sources/state/process_meter.h"

namespace heaprec::sources {

class MemoryPoller {
 public:
  static constexpr uint64_t kMaxNs = 1'000'000'000;
  static constexpr uint64_t kMaxShare = 100;  // snapshots take at most 1/100 of the time

  // `rows` must outlive the poller. `summary`: nullopt if NMT is off.
  MemoryPoller(HeapStateRecorder& rows, std::optional<hotspot::NmtSummary> summary, uint64_t period_ns)
      : rows_(rows), summary_(summary), period_ns_(period_ns) {}

  // Takes a snapshot if it is due. `jni`: null: the JVM is not asked. Returns an Error if a source will not be used
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

// The items of an account that are not read where snapshots are made.
class AccountPoller {
 public:
  static constexpr uint64_t kMappingsPeriodNs = 60'000'000'000;
  static constexpr uint64_t kMaxShare = 1000;  // the mappings take at most 1/1000 of the time

  // All must outlive it.
  AccountPoller(HeapStateRecorder& rows, const hotspot::JvmMeter& usage, hotspot::BufferPools buffers)
      : rows_(rows), usage_(usage), buffers_(buffers), mappings_(usage.heap(), usage.code()) {}

  // `jni`: null if the thread is not attached; the buffers are not read then.
  void Tick(JNIEnv* jni, uint64_t now_ns);
  // After the last Tick.
  void End(JNIEnv* jni) {
    if (jni != nullptr) buffers_.Release(jni);
  }

 private:
  HeapStateRecorder& rows_;
  const hotspot::JvmMeter& usage_;
  hotspot::BufferPools buffers_;
  MappingsMeter mappings_;
  std::optional<uint64_t> next_mappings_ns_;
};

// Polls on a thread of its own, which is attached to the JVM as a daemon. After Stop the thread has left the JVM.
class MemorySnapshots final : public Part {
 public:
  // `rows` and `usage` must outlive it. `poller`: nullopt: no rows of native memory.
  MemorySnapshots(JavaVM* vm, AccountPoller account, std::optional<MemoryPoller> poller)
      : vm_(vm),
        account_(std::move(account)),
        poller_(std::move(poller)),
        thread_("heaprec-memory", [this] { Poll(); }) {}

  // Without the thread the recording is what it is without these.
  Status Activate() override;
  void Stop() override { thread_.Stop(); }
  bool TryJoin() override { return thread_.TryJoin(); }

 private:
  void Poll();

  JavaVM* const vm_;
  AccountPoller account_;
  std::optional<MemoryPoller> poller_;
  StoppableThread thread_;
};

}  // namespace heaprec::sources
