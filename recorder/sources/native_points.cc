#include "recorder/sources/native_points.h"

#include <cstdlib>
#include <new>

namespace heaprec::sources {

NativePoints::NativePoints(uint32_t count)
    : count_(count), points_(static_cast<NativePoint*>(std::calloc(count, sizeof(NativePoint)))) {
  if (points_ == nullptr) throw std::bad_alloc();
}

NativePoints::~NativePoints() { std::free(points_); }

// Those that are used again and again are few: their pages stay the only ones.
NativePoint* NativePoints::Take() {
  if (const uint32_t number = links_.Pop(&free_); number != Links::kNone) return &points_[number];
  uint32_t used = used_.load(std::memory_order_relaxed);
  do {
    if (used >= count_) return nullptr;
  } while (!used_.compare_exchange_weak(used, used + 1, std::memory_order_relaxed));
  return new (&points_[used]) NativePoint;
}

}  // namespace heaprec::sources
