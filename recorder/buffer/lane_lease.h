// The right to write into one lane. Try-locks the lanes one after the other, so a descheduled writer does not delay
// other threads.
//
// Context:  alloc: no heap, no waiting for a lock, no I/O.
// Threads:  a lease belongs to the thread that took it.
// Failure:  ok() false: every lane is leased. Reserve nullptr: this lane has no space for `bytes` bytes. The caller
//           counts both (LossReason::kLanesBusy, LossReason::kRingFull).
// Format:   format/ring/ring_layout.h, format/ring/ring_records.h
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "format/model/model.h"
#include "format/ring/ring_layout.h"
#include "format/ring/ring_records.h"
#include "recorder/buffer/ring.h"

namespace heaprec::buffer {

// The counters of one stream of the recording, in the ring's header: like the samples, they survive a kill.
//
// Context:  alloc and drain. Each counter is a sum, so accesses are relaxed. Only the count of lost points is ordered:
//           a thread that reads it also sees the weight of these points.
// Maths:    docs/sampler.md#counters
class SharedCounters {
 public:
  explicit SharedCounters(format::RingCounters& counters) : counters_(counters) {}

  void Prefetch() const { __builtin_prefetch(&counters_.points, 1); }
  void Point() { counters_.points.fetch_add(1, std::memory_order_relaxed); }
  void Thinned() { counters_.thinned.fetch_add(1, std::memory_order_relaxed); }
  void Committed() { counters_.committed.fetch_add(1, std::memory_order_relaxed); }
  void Lost(format::LossReason loss, double weight) { Lost(loss, 1, weight); }
  void Lost(format::LossReason loss, uint64_t points, double weight) {
    counters_.lost_weight[static_cast<int>(loss)].fetch_add(weight, std::memory_order_relaxed);
    counters_.lost[static_cast<int>(loss)].fetch_add(points, std::memory_order_release);
  }
  // Counts a sample that is recorded although a part of it is missing.
  void Note(format::LossReason loss) { counters_.lost[static_cast<int>(loss)].fetch_add(1, std::memory_order_relaxed); }
  void Written(uint64_t samples) { counters_.written.fetch_add(samples, std::memory_order_relaxed); }
  void SecondStage(uint64_t samples) { counters_.second_stage.fetch_add(samples, std::memory_order_relaxed); }
  void SetPopulation(uint64_t candidates, uint64_t bytes) {
    counters_.candidates.store(candidates, std::memory_order_relaxed);
    counters_.candidate_bytes.store(bytes, std::memory_order_relaxed);
  }

  format::StreamCounters Snapshot() const;

 private:
  format::RingCounters& counters_;
};

// The definitions that the lanes already contain: a thread writes a class, method, stack or thread only if it is not
// among them.
//
// A direct-mapped cache of single words, so it is bounded, lock-free and never full. A collision or a new epoch only
// costs writing a definition again, which readers accept any number of times.
//
// Context:  alloc.
template <size_t kSlots>
class EmittedDefinitions {
  static_assert((kSlots & (kSlots - 1)) == 0);

 public:
  // Acquire: a thread that sees the mark also sees the committed definition (pairs with Mark).
  bool Has(uint64_t key, uint32_t epoch) const {
    return slots_[key % kSlots].load(std::memory_order_acquire) == Tag(key, epoch);
  }
  // Call after the definition's Commit.
  void Mark(uint64_t key, uint32_t epoch) { slots_[key % kSlots].store(Tag(key, epoch), std::memory_order_release); }

 private:
  // Never 0 (an empty slot) in practice, because keys are 64-bit hashes.
  static uint64_t Tag(uint64_t key, uint32_t epoch) { return key ^ (uint64_t{epoch} * 0x9e3779b97f4a7c15u) ^ 1; }
  std::array<std::atomic<uint64_t>, kSlots> slots_{};
};

// Writes all of `fields` except the header, which Reserve has written.
template <typename Record>
void CopyFixed(std::byte* record, const Record& fields) {
  constexpr size_t kHeader = sizeof(format::RecordHeader);
  std::memcpy(record + kHeader, reinterpret_cast<const std::byte*>(&fields) + kHeader, sizeof(Record) - kHeader);
}

// The bytes of a record whose fixed part is followed by these texts and spans.
template <typename Record, typename... Rest>
constexpr size_t RecordBytes(const Rest&... rest) {
  const size_t bytes = (sizeof(Record) + ... + std::span(rest).size_bytes());
  return (bytes + format::kRecordAlign - 1) & ~size_t{format::kRecordAlign - 1};
}

class LaneLease {
 public:
  // Tries lanes from `hint` on (a thread's own number, which spreads threads over lanes). Takes the first free one that
  // has `room` bytes left.
  LaneLease(Ring& ring, uint32_t hint, uint32_t room);
  ~LaneLease();
  LaneLease(const LaneLease&) = delete;
  LaneLease& operator=(const LaneLease&) = delete;

  // Whether an empty lane has `room` bytes.
  static bool CanEverFit(const Ring& ring, uint32_t room) { return 2 * uint64_t{room} <= ring.lane_bytes(); }

  // Prefetches what a lease with this hint is likely to need: first the lane's header, then the memory of its next
  // record.
  static void PrefetchLane(Ring& ring, uint32_t hint) { __builtin_prefetch(&ring.lane(hint % ring.lane_count()), 1); }
  static void PrefetchRecord(Ring& ring, uint32_t hint);

  bool ok() const { return lane_ != nullptr; }
  bool found_busy_only() const { return busy_only_; }  // when !ok(): no lane was free, regardless of its space
  uint32_t index() const { return index_; }

  // Reserves a record of `bytes` (rounded up to kRecordAlign). It is not visible yet; header.bytes and type are set.
  std::byte* Reserve(format::RecordType type, size_t bytes);
  // Reserves a record and writes it: its fixed part, and the texts and spans that follow. Returns false without space.
  template <typename Record, typename... Rest>
  bool Put(format::RecordType type, const Record& fields, const Rest&... rest) {
    std::byte* at = Reserve(type, RecordBytes<Record>(rest...));
    if (at == nullptr) return false;
    CopyFixed(at, fields);
    at += sizeof(Record);
    ((at = std::ranges::copy(std::as_bytes(std::span(rest)), at).out), ...);
    return true;
  }
  // Publishes the latest reserved record.
  void Commit();
  // Put and Commit.
  template <typename... Parts>
  bool Write(format::RecordType type, const Parts&... parts) {
    if (!Put(type, parts...)) return false;
    Commit();
    return true;
  }
  bool WriteStack(const format::StackKey& key, std::span<const format::RingFrame> leaf_first, bool truncated = false) {
    return Write(format::RecordType::kStack,
                 format::StackRecord{{}, key, static_cast<uint32_t>(leaf_first.size()), truncated ? 1U : 0},
                 leaf_first);
  }

 private:
  Ring& ring_;
  format::LaneHeader* lane_ = nullptr;
  std::byte* data_ = nullptr;
  uint32_t index_ = 0;
  bool busy_only_ = true;
  uint64_t end_ = 0;  // head after Commit
};

// Writes a record under its own lease, as LaneLease::Write. Returns false if there was no space.
template <typename Record, typename... Rest>
bool CommitRecord(Ring& ring, uint32_t hint, format::RecordType type, const Record& fields, const Rest&... rest) {
  LaneLease lease(ring, hint, static_cast<uint32_t>(RecordBytes<Record>(rest...)));
  return lease.ok() && lease.Write(type, fields, rest...);
}

}  // namespace heaprec::buffer
