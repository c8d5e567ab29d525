// Memory for a number of points on their way from allocating threads to the drain. No thread waits for it.
//
// Context:  Take, Submit, Discard, NumberOf, At: alloc, inside mmap's family. TakeAll: drain.
// Threads:  any; one drain.
// Failure:  Take returns null if all are on their way.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include "recorder/native_sample/index_free_lists.h"

namespace heaprec::sources {

// Zero bytes must be a valid new Point.
template <typename Point>
class PointPool {
 public:
  static constexpr uint32_t kMax = 1 << 15;

  // At most `count` <= kMax points are on their way.
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

  // Visits points in the order of Submit; each is free again after its visit.
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
  std::atomic<uint32_t> used_{0};  // those beyond were never taken
  std::vector<uint32_t> order_;
  Point* const points_;  // zero pages, each until it is taken
};

}  // namespace heaprec::sources
