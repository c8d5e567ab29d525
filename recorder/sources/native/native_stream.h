// native=on: counts all blocks that malloc and its family return, and samples them. Each sampled block is tracked
// until it is freed. NativeSource is the hooks' side; NativeStream assembles it with windows, counters and hooks, and
// with the stream of mappings, which uses the same hooks.
//
// Each thread has a byte clock as for the heap. It is updated at each point, so nothing is forced or missed.
//
// Units:    bytes.
// Context:  OnDue: alloc, inside malloc's family, in any state of the thread. ForgetLibraries: drain. NativeStream: as
//           Part.
// Failure:  none; every loss goes to the shared counters.
// Maths:    docs/streams.md#native-memory
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "recorder/buffer/lane_lease.h"
#include "recorder/buffer/ring.h"
#include "recorder/native_sample/malloc_hooks.h"
#include "recorder/sources/native/mapping_stream.h"
#include "recorder/sources/native/native_points.h"
#include "recorder/sources/native/native_sample_writer.h"
#include "recorder/sources/part.h"
#include "recorder/sources/window_publisher.h"
#include "throttle/controller.h"

namespace heaprec::sources {

class NativeSource final : public native::AllocationListener {
 public:
  // All arguments must outlive the source. `recording`: its number in this process, from 1. `max_gap`: as in
  // throttle::ByteClock::SetMaxGap. `java`: null if Java frames are not available.
  NativeSource(WindowPublisher& windows, buffer::SharedCounters& shared_counters, buffer::Ring& ring,
               uint32_t recording, uint64_t seed, double max_gap, JavaFrames* java);

  void OnDue(native::ThreadClock* clock, const native::Allocation& allocation) override;

  // Forgets the rules of unloaded libraries.
  void ForgetLibraries() { rules_->Forget(); }

 private:
  void Begin(native::ThreadClock* clock, uint64_t size, throttle::ActiveWindow now);
  void Keep(const native::ThreadClock& clock, const native::Allocation& allocation,
            const throttle::DeliveryDecision& decision);
  void Commit(const void* block, uint32_t lane, NativePoint* point);

  WindowPublisher& windows_;
  buffer::SharedCounters& shared_counters_;
  buffer::Ring& ring_;
  JavaFrames* const java_;
  const uint32_t recording_;
  const uint64_t seed_;
  const double max_gap_;
  std::atomic<uint64_t> next_id_;
  const decltype(NewCfiCache()) rules_;
};

class NativeStream final : public Part {
 public:
  // Maximum blocks tracked at a time; at least half of them have outlived their interval.
  static constexpr uint32_t kMaxTracked = 16384;

  struct Config {
    throttle::ControllerConfig throttle;
    uint64_t start_ns = 0;
    uint32_t recording = 0;  // number of the recording in this process
    uint64_t seed = 0;       // of the recording
    double max_gap = 0;
    uint32_t maps_per_second = 0;  // mappings to keep per second; 0: none are recorded
  };
  // `ring` must outlive it. `java`: null if Java frames are not available. `hooks`: installed; Activate activates them.
  NativeStream(buffer::Ring& ring, const Config& config, std::unique_ptr<JavaFrames> java,
               std::unique_ptr<native::MallocHooks> hooks);

  void Connect(writer::DrainCallbacks* callbacks) override;
  Status Activate() override;
  void OnTick(uint64_t now_ns) override;
  void NewEpoch() override { writer_.NewEpoch(); }
  void MarkStackEmitted(const format::StackKey& key) override { writer_.MarkStackEmitted(key); }
  void Stop() override;

 private:
  void Refresh();
  void TakeIn();

  buffer::SharedCounters shared_counters_;
  WindowPublisher windows_;
  const std::unique_ptr<JavaFrames> java_;
  NativeSource source_;
  NativeSampleWriter writer_;
  std::optional<MappingStream> mappings_;
  std::atomic<uint32_t>& unseen_allocators_;  // inside the ring
  const uint32_t recording_;
  std::unique_ptr<native::MallocHooks> hooks_;
  bool is_active_ = false;
};

}  // namespace heaprec::sources
