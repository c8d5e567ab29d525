// native=on: counts all blocks that malloc and its family return, and samples them. Each sampled block is tracked
// until it is freed.
//
// A thread's byte clock is the same as for the heap, updated at each point: nothing is forced or missed.
//
// Units:    bytes.
// Context:  OnDue: alloc, inside malloc's family, in any state of the thread. The rest: drain.
// Threads:  any.
// Failure:  none; every loss goes to the shared counters.
// Maths:    docs/streams.md#native-memory
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>

#include "base/memory.h"
#include "recorder/buffer/lane_lease.h"
#include "recorder/buffer/ring.h"
#include "recorder/native_sample/malloc_hooks.h"
#include "recorder/sources/native/native_points.h"
#include "recorder/sources/window_publisher.h"
#include "recorder/unwind/cfi_cache.h"

namespace heaprec::sources {

// The Java frames of the calling thread, in any state of it.
class JavaFrames {
 public:
  virtual ~JavaFrames() = default;
  // Innermost first; as many as fit.
  virtual void Take(NativePoint* point) = 0;
};

// Only its pages with rules are resident. Throws std::bad_alloc.
inline auto NewCfiCache() {
  auto* const cache = static_cast<native::CfiCache*>(MapSparse(sizeof(native::CfiCache)));
  if (cache == nullptr) throw std::bad_alloc();
  const auto unmap = [](native::CfiCache* it) { UnmapSparse(it, sizeof *it); };
  return std::unique_ptr<native::CfiCache, void (*)(native::CfiCache*)>(cache, unmap);
}

class NativeSource final : public native::AllocationListener {
 public:
  // All arguments must outlive the source. `recording`: its number in this process, from 1. `max_gap` as
  // throttle::ByteClock::SetMaxGap. `java`: null if Java frames are not available.
  NativeSource(WindowPublisher& board, buffer::SharedCounters& shared_counters, buffer::Ring& ring, uint32_t recording,
               uint64_t seed, double max_gap, JavaFrames* java);

  void OnDue(native::ThreadClock* clock, const native::Allocation& allocation) override;

  // Forgets the rules of unloaded libraries.
  void ForgetLibraries() { rules_->Forget(); }

 private:
  void Begin(native::ThreadClock* clock, uint64_t size, throttle::ActiveWindow now);
  void Keep(const native::ThreadClock& clock, const native::Allocation& allocation,
            const throttle::DeliveryDecision& decision);
  void Commit(const void* block, uint32_t lane, const NativePoint& point);

  WindowPublisher& board_;
  buffer::SharedCounters& shared_counters_;
  buffer::Ring& ring_;
  JavaFrames* const java_;
  const uint32_t recording_;
  const uint64_t seed_;
  const double max_gap_;
  std::atomic<uint64_t> next_id_;
  const decltype(NewCfiCache()) rules_;
};

}  // namespace heaprec::sources
