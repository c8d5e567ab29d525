#include "recorder/buffer/lane_lease.h"

namespace heaprec::buffer {

using format::kRecordAlign;
using format::RecordHeader;
using format::RecordType;

LaneLease::LaneLease(Ring& ring, uint32_t hint, uint32_t room) : ring_(ring) {
  for (uint32_t i = 0; i < ring.lane_count(); ++i) {
    const uint32_t index = (hint + i) % ring.lane_count();
    format::LaneHeader& lane = ring.lane(index);
    uint32_t expected = 0;
    // Acquire: sees everything that the previous writer of the lane wrote (pairs with the release in the destructor).
    if (!lane.lease.compare_exchange_strong(expected, 1, std::memory_order_acquire)) continue;
    busy_only_ = false;
    const uint64_t used = lane.head.load(std::memory_order_relaxed) - lane.tail.load(std::memory_order_acquire);
    // Twice the size: a record that does not fit before the end of the lane is preceded by padding.
    if (used + 2 * uint64_t{room} > ring.lane_bytes()) {
      lane.lease.store(0, std::memory_order_release);
      continue;
    }
    lane_ = &lane;
    data_ = ring.lane_data(index);
    index_ = index;
    return;
  }
}

void LaneLease::PrefetchRecord(Ring& ring, uint32_t hint) {
  constexpr size_t kLine = 64;
  const uint32_t index = hint % ring.lane_count();
  const uint64_t head = ring.lane(index).head.load(std::memory_order_relaxed);
  const std::byte* const at = ring.lane_data(index) + (head & (ring.lane_bytes() - 1));
  __builtin_prefetch(at, 1);
  __builtin_prefetch(at + kLine, 1);
}

LaneLease::~LaneLease() {
  if (lane_ != nullptr) lane_->lease.store(0, std::memory_order_release);  // pairs with the acquire in the constructor
}

std::byte* LaneLease::Reserve(RecordType type, size_t bytes) {
  const uint64_t capacity = ring_.lane_bytes();
  const uint64_t need = (bytes + kRecordAlign - 1) & ~uint64_t{kRecordAlign - 1};
  uint64_t head = lane_->head.load(std::memory_order_relaxed);
  const uint64_t to_end = capacity - (head & (capacity - 1));
  const uint64_t pad = need <= to_end ? 0 : to_end;
  // Acquire: the drain has read the bytes that it freed (pairs with its release of tail).
  if (head + pad + need - lane_->tail.load(std::memory_order_acquire) > capacity) return nullptr;
  if (pad != 0) {
    const RecordHeader header{static_cast<uint32_t>(pad), RecordType::kPad, 0};
    std::memcpy(data_ + (head & (capacity - 1)), &header, sizeof(header));
    head += pad;
  }
  end_ = head + need;
  const RecordHeader header{static_cast<uint32_t>(need), type, 0};
  std::byte* record = data_ + (head & (capacity - 1));
  std::memcpy(record, &header, sizeof(header));
  return record;
}

void LaneLease::Commit() {
  // Release: the record is complete before it is visible (pairs with the acquire of head in the drain and the
  // salvager).
  lane_->head.store(end_, std::memory_order_release);
}

format::StreamCounters SharedCounters::Snapshot() const {
  format::StreamCounters out;
  // Reads the outcomes of points before the number of points. A concurrent event then shows as a point without an
  // outcome, and outcomes never exceed points.
  for (int i = 0; i < format::kRingLosses; ++i) {
    out.lost[i] = counters_.lost[i].load(std::memory_order_acquire);
    out.lost_weight[i] = counters_.lost_weight[i].load(std::memory_order_relaxed);
  }
  out.second_stage = counters_.second_stage.load(std::memory_order_relaxed);
  out.written = counters_.written.load(std::memory_order_relaxed);
  out.committed = counters_.committed.load(std::memory_order_relaxed);
  out.thinned = counters_.thinned.load(std::memory_order_relaxed);
  out.points = counters_.points.load(std::memory_order_relaxed);
  out.candidates = counters_.candidates.load(std::memory_order_relaxed);
  out.candidate_bytes = counters_.candidate_bytes.load(std::memory_order_relaxed);
  return out;
}

}  // namespace heaprec::buffer
