// The right to write into one lane. It is taken by try-lock over all lanes, so a descheduled writer delays nobody.
//
// Context:  alloc: no heap, no lock that is waited for, no I/O.
// Threads:  a lease belongs to the thread that took it.
// Failure:  ok() false: every lane is leased. Reserve nullptr: this lane has no room (`bytes` says how much was
//           requested). The caller counts both (LossReason::kLanesBusy, LossReason::kRingFull).
// Format:   format/ring/ring_layout.h, format/ring/ring_records.h
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "format/ring/ring_records.h"
#include "recorder/buffer/ring.h"

namespace heaprec::buffer {

class LaneLease {
 public:
  // Tries lanes from `hint` on (a thread's own number spreads threads over lanes). Takes the first free one that has
  // `room` bytes left.
  LaneLease(Ring& ring, uint32_t hint, uint32_t room);
  ~LaneLease();
  LaneLease(const LaneLease&) = delete;
  LaneLease& operator=(const LaneLease&) = delete;

  // Whether an empty lane has `room` bytes.
  static bool CanEverFit(const Ring& ring, uint32_t room) { return 2 * uint64_t{room} <= ring.lane_bytes(); }

  // Load what a lease with this hint is likely to need, while the thread does something else: first the lane's header,
  // then the place of its next record.
  static void PrefetchLane(Ring& ring, uint32_t hint) { __builtin_prefetch(&ring.lane(hint % ring.lane_count()), 1); }
  static void PrefetchRecord(Ring& ring, uint32_t hint);

  bool ok() const { return lane_ != nullptr; }
  bool found_busy_only() const { return busy_only_; }  // when !ok(): no lane was free, whatever its room
  uint32_t index() const { return index_; }

  // Room for one record of `bytes` (rounded up to kRecordAlign; header.bytes and type are filled in), not yet visible.
  std::byte* Reserve(format::RecordType type, size_t bytes);
  // Publishes the record that was reserved last.
  void Commit();

 private:
  Ring& ring_;
  format::LaneHeader* lane_ = nullptr;
  std::byte* data_ = nullptr;
  uint32_t index_ = 0;
  bool busy_only_ = true;
  uint64_t end_ = 0;  // head after Commit
};

// Writes all of `fields` except the header, which Reserve has written.
template <typename Record>
void CopyFixed(std::byte* record, const Record& fields) {
  constexpr size_t kHeader = sizeof(format::RecordHeader);
  std::memcpy(record + kHeader, reinterpret_cast<const std::byte*>(&fields) + kHeader, sizeof(Record) - kHeader);
}

// Writes a record without text, under a lease of its own. False: there was no room.
template <typename Record>
bool CommitRecord(Ring& ring, uint32_t hint, format::RecordType type, const Record& fields) {
  LaneLease lease(ring, hint, sizeof(Record));
  std::byte* const record = lease.ok() ? lease.Reserve(type, sizeof(Record)) : nullptr;
  if (record == nullptr) return false;
  CopyFixed(record, fields);
  lease.Commit();
  return true;
}

}  // namespace heaprec::buffer
