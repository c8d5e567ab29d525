// Streams, each with its own throttle and counters, and the basic types of a recording.
//
// Format:   docs/format/recording.md#streams
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace heaprec::format {

using RecordingId = std::array<uint8_t, 16>;

// An index into the dictionaries of the chunk that was read. 0 is the first entry; kNone means "not known".
using Index = uint32_t;
inline constexpr Index kNone = 0xffffffff;

// Resolution of a sample's time; the clock is no more precise. docs/format/recording.md#conventions
inline constexpr uint64_t kTickNs = 64;

enum class Kind : uint8_t { kTlab = 0, kOutside = 1, kException = 2, kNative = 3, kMapping = 4 };
inline constexpr int kKinds = 5;
inline constexpr std::array kAllocationKinds{Kind::kTlab, Kind::kOutside};

// Events with their own throttle: each stream has its windows, intervals, cap and counters, and its weights are in its
// unit. docs/format/recording.md#streams
enum class Stream : uint8_t {
  kAllocations = 0,  // the unit is the byte
  kExceptions = 1,   // the unit is the event
  kNative = 2,       // malloc and its family; the unit is the byte
  kMapping = 3,      // mmap and its family; the unit is the byte
};
inline constexpr int kStreams = 4;
inline constexpr std::array kAllStreams{Stream::kAllocations, Stream::kExceptions, Stream::kNative, Stream::kMapping};
constexpr Stream StreamOf(Kind kind) {
  constexpr std::array kOf{Stream::kAllocations, Stream::kAllocations, Stream::kExceptions, Stream::kNative,
                           Stream::kMapping};
  static_assert(kOf.size() == kKinds);
  return static_cast<size_t>(kind) < kOf.size() ? kOf[static_cast<size_t>(kind)] : Stream::kAllocations;
}
// Whether weights are numbers of events and samples have no size.
constexpr bool CountsEvents(Stream stream) { return stream == Stream::kExceptions; }

// Window ids are unique across streams: a top bit of the id identifies the stream.
inline constexpr uint32_t kWindowStreamBit = 0x80000000, kNativeWindowBit = 0x40000000, kMappingWindowBit = 0x20000000;
constexpr Stream StreamOfWindow(uint32_t id) {
  if ((id & kWindowStreamBit) != 0) return Stream::kExceptions;
  if ((id & kNativeWindowBit) != 0) return Stream::kNative;
  return (id & kMappingWindowBit) != 0 ? Stream::kMapping : Stream::kAllocations;
}

// Sample ids are unique across streams: each stream has its own range, which is too large to be exhausted.
constexpr uint64_t FirstIdOf(Stream stream) {
  return stream == Stream::kAllocations ? 1 : uint64_t{1} << (63 - static_cast<uint8_t>(stream));
}
constexpr Stream StreamOfId(uint64_t id) {
  if (id >= FirstIdOf(Stream::kExceptions)) return Stream::kExceptions;
  if (id >= FirstIdOf(Stream::kNative)) return Stream::kNative;
  return id >= FirstIdOf(Stream::kMapping) ? Stream::kMapping : Stream::kAllocations;
}

// The seed of a stream's second stage, from the first eight bytes of the recording's id (little endian), so that
// streams are reduced independently. docs/format/ring.md#intervals
constexpr uint64_t SeedOf(Stream stream, uint64_t recording) {
  return stream == Stream::kAllocations ? recording : recording ^ uint64_t { 1 } << (64 - static_cast<uint8_t>(stream));
}
constexpr uint64_t SeedOf(Stream stream, const RecordingId& id) {
  uint64_t recording = 0;
  for (size_t i = 8; i-- > 0;) recording = recording << 8 | id[i];
  return SeedOf(stream, recording);
}

template <typename T>
struct PerStream {
  std::array<T, kStreams> of{};
  T& operator[](Stream stream) { return of[static_cast<size_t>(stream)]; }
  const T& operator[](Stream stream) const { return of[static_cast<size_t>(stream)]; }
  bool operator==(const PerStream&) const = default;
};
// What make(stream) returns for each stream.
template <typename Make>
constexpr auto PerStreamOf(const Make& make) {
  return [&make]<size_t... kAt>(std::index_sequence<kAt...>) {
    return PerStream<decltype(make(Stream::kAllocations))>{{make(kAllStreams[kAt])...}};
  }
  (std::make_index_sequence<kStreams>());
}

// The rate limit of a stream.
struct StreamCap {
  uint64_t interval_ns = 0;    // length of a throttle interval; 0: the stream is not recorded
  uint32_t interval_cap = 0;   // maximum samples per interval
  double rate_per_second = 0;  // as requested
};

// The counters of a stream: what was counted and what was lost; cumulative.
//
// Format:   docs/format/recording.md#counters

// Why a sample point was not recorded. Every block has a counter and a weight for each reason (StreamCounters).
enum class LossReason : uint8_t {
  kDroppedByJvm = 0,  // the JVM dropped the event of the point (the byte clock notices later)
  kRingFull = 1,      // no room in any lane
  kLanesBusy = 2,     // every lane was leased
  kThreadLimit = 3,   // candidates (not points) of threads beyond the number of byte clocks
  kNoStack = 4,       // the JVM gave no stack (the sample is still recorded, with stack kNone)
  kWriteFailed = 5,   // committed, but the file could not be written (disk full, I/O error)
  kOversized = 6,     // an event too large for a lane
  kKilled = 7,        // lost by a kill: not yet committed, or committed and in neither file nor ring; only
                      // readers count it
  kStackChunks = 8,   // not a loss and not a point: objects into which the JVM copies stacks of virtual threads,
                      // and their bytes; counted exactly, never sampled, and included in no other counter
};
inline constexpr int kLosses = 9;
inline constexpr int kRingLosses = 7;  // the first ones, which are also in the ring
constexpr bool IsLoss(LossReason reason) { return reason != LossReason::kStackChunks; }
// "missed", "ring_full", ... as in `heaprec summary` and docs/format/recording.md
const char* LossReasonName(LossReason loss);

// Counters of one stream, cumulative since the start. Every block has them, so the losses in a gap of the file are
// known.
//   points = SettledPoints()
//   committed = SettledSamples(), once all intervals are closed
// Samples in flight may be missing on the right-hand sides, so these may be smaller, never larger.
struct StreamCounters {
  uint64_t candidates = 0;       // slow-path allocations, or events, seen
  uint64_t candidate_bytes = 0;  // counted by the byte clocks; 0 for events
  uint64_t points = 0;           // sample points
  uint64_t thinned = 0;          // points dropped at delivery because lambda had fallen since they were armed
  uint64_t committed = 0;        // points published in the ring: samples, and light ones
  uint64_t written = 0;          // samples written to the file
  uint64_t second_stage = 0;     // committed points that other samples represent: dropped by VarOpt, or light
  // Stacks of allocations, as of the drain's last tick: walked by the agent; from JVMTI; walked, but different from
  // JVMTI's.
  uint64_t stacks_walked = 0, stacks_from_jvmti = 0, stack_mismatches = 0;
  uint64_t untracked = 0;  // written samples whose object is not tracked, because the table was full
  // Allocators inside libraries of the program, whose calls the hooks do not see.
  uint64_t unseen_allocators = 0;
  std::array<uint64_t, kLosses> lost{};
  std::array<double, kLosses> lost_weight{};  // weight of the lost points, in the unit of the stream

  // What was counted, in the unit of the stream's weights.
  uint64_t Counted(Stream stream) const { return CountsEvents(stream) ? candidates : candidate_bytes; }
  // Points that never became samples in the ring: lost[kDroppedByJvm, kRingFull, kLanesBusy, kOversized, kKilled].
  uint64_t LostPoints() const;
  uint64_t SettledPoints() const { return committed + thinned + LostPoints(); }
  uint64_t SettledSamples() const {
    return written + second_stage + lost[static_cast<size_t>(LossReason::kWriteFailed)];
  }
  void SetStackChunks(uint64_t objects, uint64_t bytes) {
    lost[static_cast<size_t>(LossReason::kStackChunks)] = objects;
    lost_weight[static_cast<size_t>(LossReason::kStackChunks)] = static_cast<double>(bytes);
  }
  uint64_t stack_chunks() const { return lost[static_cast<size_t>(LossReason::kStackChunks)]; }
  double stack_chunk_bytes() const { return lost_weight[static_cast<size_t>(LossReason::kStackChunks)]; }
  // All losses: the events, and the weight that they represent.
  uint64_t AllLost() const;
  double AllLostWeight() const;
  // Counters of the time since `earlier`; 0 where the difference would be negative.
  StreamCounters Since(const StreamCounters& earlier) const;
  bool operator==(const StreamCounters&) const = default;
};

// In the order of the file.
inline constexpr std::array kStreamCounterFields{
    &StreamCounters::candidates,       &StreamCounters::candidate_bytes, &StreamCounters::points,
    &StreamCounters::thinned,          &StreamCounters::committed,       &StreamCounters::written,
    &StreamCounters::second_stage,     &StreamCounters::stacks_walked,   &StreamCounters::stacks_from_jvmti,
    &StreamCounters::stack_mismatches, &StreamCounters::untracked,       &StreamCounters::unseen_allocators};

}  // namespace heaprec::format
