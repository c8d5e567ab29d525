#include "recorder/sources/native/mapping_source.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

namespace heaprec::sources {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr int kCountBits = 32;

}  // namespace

bool MappingSource::MaySpend(uint64_t now_ns) {
  const uint64_t second = now_ns / kSecondNs << kCountBits;
  uint64_t spent = spent_.load(std::memory_order_relaxed);
  uint64_t after = 0;
  do {
    const uint64_t in_second = (spent >> kCountBits << kCountBits) == second ? spent - second : 0;
    if (in_second >= most_per_second_) return false;
    after = second + in_second + 1;
  } while (!spent_.compare_exchange_weak(spent, after, std::memory_order_relaxed));
  return true;
}

// A point is used again and again: all that is read of it is set.
MappingPoint* MappingSource::Fill(MappingPoint* point, MappingPoint::What what, const native::Mapping& mapping) const {
  point->time_ns = MonotonicNs();
  point->what = what;
  point->mapping = mapping;
  point->is_lost = false;
  point->moving = 0;
  point->native_frames = point->java_frames = 0;
  point->java_is_cut = false;
  return point;
}

void MappingSource::Describe(const native::Registers& caller, MappingPoint* point) {
  point->is_lost = !MaySpend(point->time_ns);
  if (point->is_lost) return;
  point->os_tid = static_cast<uint32_t>(syscall(SYS_gettid));
  prctl(PR_GET_NAME, point->thread_name);
  point->native_frames = native::Unwind(rules_.get(), caller, point->native);
  if (java_ != nullptr) java_->Take(point);
}

void MappingSource::OnMapped(const native::Mapping& mapping, const native::Registers& caller) {
  MappingPoint* const point = points_.Take();
  if (point == nullptr) {
    const uint64_t bytes = mapping.end - mapping.begin;
    shared_counters_.Point();
    shared_counters_.Lost(format::LossReason::kRingFull, static_cast<double>(bytes));
    missed_.fetch_add(1, std::memory_order_relaxed);
    missed_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    return is_incomplete_.store(true, std::memory_order_relaxed);
  }
  calls_.noted.fetch_add(1, std::memory_order_relaxed);
  calls_.noted_bytes.fetch_add(mapping.end - mapping.begin, std::memory_order_relaxed);
  Describe(caller, Fill(point, MappingPoint::What::kMap, mapping));
  points_.Submit(point);
}

void MappingSource::OnUnmapping(uintptr_t begin, uintptr_t end) {
  MappingPoint* const point = points_.Take();
  if (point == nullptr) return is_incomplete_.store(true, std::memory_order_relaxed);
  points_.Submit(Fill(point, MappingPoint::What::kUnmap, {begin, end, native::MappingType::kReserve, false}));
}

// Both points together: a detached range is attached again.
uint32_t MappingSource::OnMoving(uintptr_t begin, uintptr_t end) {
  MappingPoint* const lift = points_.Take();
  MappingPoint* const place = lift != nullptr ? points_.Take() : nullptr;
  if (place == nullptr) {
    if (lift != nullptr) points_.Discard(lift);
    is_incomplete_.store(true, std::memory_order_relaxed);
    return kNoRoom;
  }
  const uint32_t moving = points_.NumberOf(place);
  Fill(lift, MappingPoint::What::kLift, {begin, end, native::MappingType::kReserve, false})->moving = moving;
  points_.Submit(lift);
  return moving;
}

void MappingSource::OnMoved(uint32_t moving, uintptr_t begin, uintptr_t end, const native::Registers& caller) {
  if (moving == kNoRoom) return;
  MappingPoint* const place = points_.At(moving);
  Describe(caller, Fill(place, MappingPoint::What::kPlace, {begin, end, native::MappingType::kReserve, false}));
  place->moving = moving;
  points_.Submit(place);
}

MappingSource::DroppedByJvm MappingSource::TakeMissed() {
  return {missed_.exchange(0, std::memory_order_relaxed), missed_bytes_.exchange(0, std::memory_order_relaxed),
          is_incomplete_.exchange(false, std::memory_order_relaxed)};
}

}  // namespace heaprec::sources
