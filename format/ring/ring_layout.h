// The shared ring: bytes that the agent publishes and that a reader salvages after a kill.
//
// One page of RingHeader, then lane_count lanes of LaneHeader + lane_bytes, then RingModules if the ring has modules,
// then the counts of a census (census_pages.h) if there is one, then the rows of an open row interval (row_pages.h) if
// allocations are recorded. Little endian; atomics are lock-free and address-free. A
// lane is a byte ring of records with ONE writer at a time (lease) and one consumer (the drain). Positions are
// monotonic byte counts; the byte of position p is at p % lane_bytes. Records: ring_records.h.
//
// field                      writer thread   drain          salvager (process dead, or running: read-only)
//   LaneHeader.lease         CAS 0 -> 1, 0   -              -
//   LaneHeader.head          release         acquire        acquire
//   LaneHeader.tail          acquire         release        acquire
//   RingHeader.* counters    fetch_add       fetch_add      read
//
// Format: docs/format/ring.md
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "format/model/model.h"

namespace heaprec::format {

inline constexpr uint64_t kRingMagic = 0x474e495243455248;  // "HRECRING" in little endian
inline constexpr uint32_t kRingVersion = 1;
inline constexpr size_t kRingHeaderBytes = 4096;
inline constexpr size_t kLaneHeaderBytes = 128;
inline constexpr size_t kRecordingPathAt = 2048;

enum class RingState : uint32_t { kStarting = 0, kRunning = 1, kClosed = 2 };

// The fields of StreamCounters as atomics, in the same order, except those of RingStacks and RingStackChunks.
struct RingCounters {
  std::atomic<uint64_t> candidates, candidate_bytes, points, thinned, committed, written, second_stage;
  std::atomic<uint64_t> lost[kRingLosses];
  std::atomic<double> lost_weight[kRingLosses];
};

// A stream other than the allocations.
struct RingStream {
  uint64_t interval_ns;  // 0: the stream is not recorded
  uint32_t interval_cap;
  uint32_t reserved;
  RingCounters counters;
};

// How stacks were captured, stored by the drain; the same fields in the same order as in StreamCounters.
struct RingStacks {
  std::atomic<uint64_t> walked, asked, differed;
};

// Stack chunks of virtual threads (LossReason::kStackChunks), stored by the drain.
struct RingStackChunks {
  std::atomic<uint64_t> objects, bytes;
};

// The counters of CensusCounters, in their order.
struct RingCensus {
  std::atomic<uint64_t> counters[kCensusCounts];
};

// Calls that mapped memory: counted by the hooks, added to the stream's counters by the drain. A kill loses the
// difference.
struct RingMappingCalls {
  std::atomic<uint64_t> noted, noted_bytes, taken, taken_bytes;
};

// A library of the process; readers name the addresses of native points with it.
struct RingModule {
  uint64_t begin, end, bias;  // bias: address minus address in the file
  char build_id[48];          // hexadecimal; terminated by a zero, like the path
  char path[440];
};
static_assert(sizeof(RingModule) == 512);

inline constexpr uint32_t kMaxRingModules = 511;

// Written by the drain only. `sequence` is odd during a write.
struct RingModules {
  std::atomic<uint32_t> sequence;
  uint32_t count;
  uint8_t reserved[504];
  RingModule modules[kMaxRingModules];
};
static_assert(offsetof(RingModules, modules) == 512 && sizeof(RingModules) == 262144);

struct RingHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t header_bytes;  // kRingHeaderBytes
  uint8_t recording_id[16];
  uint32_t pid;
  uint32_t lane_count;
  uint32_t lane_header_bytes;  // kLaneHeaderBytes
  uint32_t lane_bytes;         // power of two
  uint64_t start_epoch_ns;
  uint64_t start_monotonic_ns;
  uint64_t interval_ns;
  uint32_t interval_cap;
  std::atomic<uint32_t> state;         // RingState
  std::atomic<uint64_t> heartbeat_ns;  // CLOCK_MONOTONIC of the drain's last tick
  RingCounters counters;
  RingStream exceptions;
  RingStacks stacks;
  RingCensus census;
  RingStream native;
  RingStream mapped;
  RingMappingCalls mapping_calls;
  uint64_t modules_at;  // offset of RingModules in the ring; 0: there are none
  RingStackChunks stack_chunks;
  // Stored by the drain: the time (CLOCK_MONOTONIC) since which the file cannot be written, 0 if it can; and the errno.
  std::atomic<uint64_t> unwritten_since_ns;
  std::atomic<uint32_t> write_errno;
  std::atomic<uint32_t> unseen_allocators;  // StreamCounters::unseen_allocators of native memory
  uint64_t census_at;                       // offset of RingCensusPages in the ring; 0: there is no census
  uint64_t rows_at;                         // offset of RingRowPages in the ring; 0: there are none
  uint8_t reserved[kRecordingPathAt - 1032];
  // Absolute path of the current file, zero-terminated; empty: unknown. Its first byte is stored last.
  char recording_path[kRingHeaderBytes - kRecordingPathAt];

  // Null for the allocations, whose fields are in the header itself.
  const RingStream* OtherStream(Stream stream) const {
    const std::array<const RingStream*, kStreams> all{nullptr, &exceptions, &native, &mapped};
    return all[static_cast<size_t>(stream)];
  }
  const RingCounters& CountersOf(Stream stream) const {
    return OtherStream(stream) != nullptr ? OtherStream(stream)->counters : counters;
  }
  RingCounters& CountersOf(Stream stream) {
    return const_cast<RingCounters&>(static_cast<const RingHeader*>(this)->CountersOf(stream));
  }
  uint64_t IntervalNsOf(Stream stream) const {
    return OtherStream(stream) != nullptr ? OtherStream(stream)->interval_ns : interval_ns;
  }
  uint32_t IntervalCapOf(Stream stream) const {
    return OtherStream(stream) != nullptr ? OtherStream(stream)->interval_cap : interval_cap;
  }
};
static_assert(offsetof(RingHeader, recording_id) == 16 && offsetof(RingHeader, lane_count) == 36);
static_assert(offsetof(RingHeader, start_epoch_ns) == 48 && offsetof(RingHeader, state) == 76);
static_assert(offsetof(RingHeader, heartbeat_ns) == 80 && offsetof(RingHeader, counters) == 88);
static_assert(offsetof(RingHeader, exceptions) == 256 && offsetof(RingStream, counters) == 16);
static_assert(offsetof(RingHeader, stacks) == 440 && offsetof(RingHeader, census) == 464);
static_assert(offsetof(RingHeader, native) == 576 && offsetof(RingHeader, mapped) == 760);
static_assert(offsetof(RingHeader, unwritten_since_ns) == 1000 && offsetof(RingHeader, write_errno) == 1008 &&
              offsetof(RingHeader, unseen_allocators) == 1012);
static_assert(offsetof(RingHeader, mapping_calls) == 944 && offsetof(RingHeader, modules_at) == 976);
static_assert(offsetof(RingHeader, stack_chunks) == 984 && offsetof(RingHeader, census_at) == 1016 &&
              offsetof(RingHeader, rows_at) == 1024);
static_assert(offsetof(RingHeader, recording_path) == kRecordingPathAt && sizeof(RingHeader) == kRingHeaderBytes);
static_assert(std::atomic<double>::is_always_lock_free && sizeof(std::atomic<double>) == 8);

struct LaneHeader {
  std::atomic<uint64_t> head;   // bytes published
  std::atomic<uint64_t> tail;   // bytes that are in the file and no longer needed
  std::atomic<uint32_t> lease;  // 0 free, 1 leased
  uint32_t reserved;
};
static_assert(sizeof(LaneHeader) <= kLaneHeaderBytes);

}  // namespace heaprec::format
