// The mappings of a recording with native=on. MappingSource, the hooks' side, passes every call of mmap, munmap and
// mremap to the drain, up to a maximum of mappings per second. Beyond that a call is passed without its stack and not
// sampled; only its range is used. MappingStream, the drain's side, turns the calls into samples and their ends.
//
// Units:    bytes.
// Context:  MappingSource: as native::MmapListener: alloc, inside mmap's family, in any state of the thread;
// TakeUnreported:
//           drain. MappingStream: the constructor, mapper: setup; the others: drain.
// Threads:  any in MappingSource.
// Failure:  if all points are in use, a mapping is counted (TakeUnreported, shared counters), and is_incomplete is
// set:
//           others may be gone. Both objects live as long as their recording, because a thread may be inside them.
// Maths:    docs/streams.md#mappings
// Format:   docs/format/recording.md#mappings
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <new>
#include <vector>

#include "recorder/buffer/lane_lease.h"
#include "recorder/buffer/ring.h"
#include "recorder/native_sample/index_free_lists.h"
#include "recorder/native_sample/mmap_hooks.h"
#include "recorder/sources/native/mapping_table.h"
#include "recorder/sources/native/native_points.h"
#include "recorder/sources/native/native_sample_writer.h"

namespace heaprec::sources {

// A pool of points that allocating threads pass to the drain. No thread waits for it.
//
// Context:  Take, Submit, Discard, NumberOf, At: alloc, inside mmap's family. TakeAll: drain.
// Threads:  any; one drain.
// Failure:  Take returns null if all points are in use.
//
// A Point of zero bytes must be valid.
template <typename Point>
class PointPool {
 public:
  static constexpr uint32_t kMax = 1 << 15;

  // At most `count` <= kMax points are in use at a time.
  explicit PointPool(uint32_t count) : count_(count), points_(static_cast<Point*>(std::calloc(count, sizeof(Point)))) {
    if (points_ == nullptr) throw std::bad_alloc();
  }
  ~PointPool() { std::free(points_); }
  PointPool(const PointPool&) = delete;
  PointPool& operator=(const PointPool&) = delete;

  // Prefers points that were used before, so that few pages are touched.
  Point* Take() {
    if (const uint32_t number = links_.Pop(&free_); number != Links::kNone) return &points_[number];
    uint32_t used = used_.load(std::memory_order_relaxed);
    do {
      if (used >= count_) return nullptr;
    } while (!used_.compare_exchange_weak(used, used + 1, std::memory_order_relaxed));
    return new (&points_[used]) Point;
  }
  void Submit(Point* point) { links_.Push(&given_, NumberOf(point)); }
  void Discard(Point* point) { links_.Push(&free_, NumberOf(point)); }

  uint32_t NumberOf(const Point* point) const { return static_cast<uint32_t>(point - points_); }
  Point* At(uint32_t number) { return &points_[number]; }

  // Visits points in the order of Submit; each is free after its visit.
  template <typename Visit>
  void TakeAll(const Visit& visit) {
    order_.clear();
    links_.TakeAll(&given_, [this](uint32_t number) { order_.push_back(number); });
    for (auto number = order_.rbegin(); number != order_.rend(); ++number) {
      visit(points_[*number]);
      links_.Push(&free_, *number);
    }
  }

 private:
  using Links = native::IndexFreeLists<kMax>;

  const uint32_t count_;
  Links links_;
  typename Links::Free free_;
  typename Links::Done given_;
  std::atomic<uint32_t> used_{0};  // points beyond this were never taken
  std::vector<uint32_t> order_;
  Point* const points_;  // zero pages until a point is taken
};

struct MappingPoint : NativePoint {
  enum class What : uint8_t {
    kMap,
    kUnmap,
    kDetach,  // mremap is about to move it
    kAttach   // and has; `moving` as of the kDetach
  };
  What what = What::kMap;
  bool is_lost = false;  // over the limit of this second
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

  // Since the last call: mappings that were not reported, and whether the end of others may have been missed.
  struct Unreported {
    uint64_t mappings = 0, bytes = 0;
    bool is_incomplete = false;
  };
  Unreported TakeUnreported();
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
  std::atomic<uint64_t> spent_{0};  // (second << 32) | mappings in it
  std::atomic<uint64_t> missed_{0}, missed_bytes_{0};
  std::atomic<bool> is_incomplete_{false};
};

class MappingStream {
 public:
  static constexpr uint32_t kMaxTracked = 32768;
  // An interval accepts up to this many times the mappings that it keeps (`per_second`); the selection is random.
  static constexpr uint32_t kOversampling = 4;
  static constexpr uint64_t kIntervalNs = 1'000'000'000;

  // All arguments must outlive it; `java` may be null.
  MappingStream(buffer::Ring& ring, uint64_t start_ns, uint32_t per_second, NativeSampleWriter& writer,
                JavaFrames* java);

  native::MmapListener* mapper() { return &source_; }
  // Processes the calls so far. If an interval has ended since the last tick, calls of the next one wait for the next
  // tick, so that the counters at an interval's end cover exactly its own calls.
  void OnTick(uint64_t now_ns);
  void Stop(uint64_t now_ns);
  void ForgetLibraries() { source_.ForgetLibraries(); }

 private:
  void TakeIn(uint64_t until_ns, uint64_t now_ns);
  void Apply(const MappingPoint& point);
  void Add(const MappingPoint& point, const MappingTable::New& made);

  buffer::SharedCounters shared_counters_;
  const uint64_t start_ns_;
  NativeSampleWriter& writer_;
  MappedPoints points_;
  format::RingMappingCalls& mapping_calls_;
  MappingSource source_;
  MappingTable ranges_;
  std::deque<MappingPoint> late_;                 // calls of the next interval
  std::vector<native::Mapping> kernel_mappings_;  // the kernel's list when a call was missed; empty: no call was missed
  uint64_t next_id_, calls_ = 0, bytes_ = 0, interval_ = 0;
};

}  // namespace heaprec::sources
