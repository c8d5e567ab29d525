// native=on: passes every call of mmap, munmap and mremap to the drain, up to a maximum of mappings per second.
//
// Beyond that a call is passed on without its stack and not sampled; what it replaces is known.
//
// Units:    bytes.
// Context:  as native::MmapListener: alloc, inside mmap's family, in any state of the thread. TakeMissed: drain.
// Threads:  any.
// Failure:  a mapping for which there is no room is counted (TakeMissed, shared counters), and is_incomplete is set:
//           others may be gone.
// Maths:    docs/streams.md#mappings
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "recorder/buffer/lane_lease.h"
#include "recorder/native_sample/mmap_hooks.h"
#include "recorder/sources/native/native_points.h"
#include "recorder/sources/native/native_source.h"
#include "recorder/sources/native/point_pool.h"

namespace heaprec::sources {

struct MappingPoint : NativePoint {
  enum class What : uint8_t {
    kMap,
    kUnmap,
    kLift,  // mremap is about to move it
    kPlace  // and has; `moving` as of the kLift
  };
  What what = What::kMap;
  bool is_lost = false;  // there were too many in this second
  uint32_t moving = 0;
  native::Mapping mapping{};
};
using MappedPoints = PointPool<MappingPoint>;

class MappingSource final : public native::MmapListener {
 public:
  // All arguments must outlive the source. `java`: null if Java frames are not available.
  MappingSource(buffer::SharedCounters& shared_counters, format::RingMappingCalls& calls, MappedPoints& points,
                uint32_t most_per_second, JavaFrames* java)
      : shared_counters_(shared_counters),
        calls_(calls),
        points_(points),
        java_(java),
        most_per_second_(most_per_second),
        rules_(NewCfiCache()) {}

  void OnMapped(const native::Mapping& mapping, const native::Registers& caller) override;
  void OnUnmapping(uintptr_t begin, uintptr_t end) override;
  uint32_t OnMoving(uintptr_t begin, uintptr_t end) override;
  void OnMoved(uint32_t moving, uintptr_t begin, uintptr_t end, const native::Registers& caller) override;
  void OnUnknownState() override { is_incomplete_.store(true, std::memory_order_relaxed); }

  // Since the last call: mappings that are not reported, and whether others may have ended unnoticed.
  struct DroppedByJvm {
    uint64_t mappings = 0, bytes = 0;
    bool is_incomplete = false;
  };
  DroppedByJvm TakeMissed();
  // Forgets the rules of unloaded libraries.
  void ForgetLibraries() { rules_->Forget(); }

 private:
  static constexpr uint32_t kNoRoom = 0xffffffff;

  bool MaySpend(uint64_t now_ns);
  void Describe(const native::Registers& caller, MappingPoint* point);
  MappingPoint* Fill(MappingPoint* point, MappingPoint::What what, const native::Mapping& mapping) const;

  buffer::SharedCounters& shared_counters_;
  format::RingMappingCalls& calls_;
  MappedPoints& points_;
  JavaFrames* const java_;
  const uint32_t most_per_second_;
  const decltype(NewCfiCache()) rules_;
  std::atomic<uint64_t> spent_{0};  // a second, and the mappings in it
  std::atomic<uint64_t> missed_{0}, missed_bytes_{0};
  std::atomic<bool> is_incomplete_{false};
};

}  // namespace heaprec::sources
