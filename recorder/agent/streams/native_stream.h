// Assembles the native memory of a recording: windows, counters, hooks and source of the third stream, and the
// fourth stream.
//
// Context:  the constructor, Activate: setup. OnTick, OnPoint, NewEpoch, MarkStackEmitted, Drop, Stop: drain.
// Failure:  none. The object lives as long as its recording, because a thread may be inside it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "recorder/agent/streams/mapping_stream.h"
#include "recorder/buffer/lane_lease.h"
#include "recorder/buffer/ring.h"
#include "recorder/native_sample/malloc_hooks.h"
#include "recorder/sources/native/native_sample_writer.h"
#include "recorder/sources/native/native_source.h"
#include "recorder/sources/window_publisher.h"
#include "throttle/controller.h"

namespace heaprec::agent {

class NativeStream {
 public:
  // Maximum blocks tracked at a time, at least half of them for longer than their interval.
  static constexpr uint32_t kMaxTracked = 16384;

  // `ring` must outlive it, as must `java`, which may be null. `recording`: its number in this process.
  // `maps_per_second`: mappings that are kept per second; 0: none are recorded.
  NativeStream(buffer::Ring& ring, const throttle::ControllerConfig& config, uint64_t start_ns, uint32_t recording,
               uint64_t seed, double max_gap, sources::JavaFrames* java, uint32_t maps_per_second = 0);

  void Activate(std::unique_ptr<native::MallocHooks> calls);
  void OnTick(uint64_t now_ns);
  // As writer::DrainCallbacks::on_native_point.
  void OnPoint(const format::NativePointRecord& record, std::span<const uint64_t> pcs,
               std::span<const format::RingFrame> java) {
    writer_.Write(record, pcs, java);
  }
  void NewEpoch() { writer_.NewEpoch(); }
  void MarkStackEmitted(const format::StackKey& key) { writer_.MarkStackEmitted(key); }
  // Stops tracking the block; its free() is not reported.
  static void Drop(uint16_t place, uint64_t sample) { native::Blocks().Drop(place, sample); }
  // Stops sampling; everything allocated so far is counted. Idempotent.
  void Stop();

 private:
  void Refresh();
  void TakeIn();

  buffer::SharedCounters shared_counters_;
  sources::WindowPublisher board_;
  sources::NativeSource source_;
  sources::NativeSampleWriter writer_;
  std::optional<MappingStream> mapped_;
  std::atomic<uint32_t>& unseen_allocators_;  // in the ring
  const uint32_t recording_;
  std::unique_ptr<native::MallocHooks> calls_;  // null: it is not active
};

}  // namespace heaprec::agent
