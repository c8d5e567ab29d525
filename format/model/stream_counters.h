// Books: what was counted and what was lost, cumulative.
//
// Format:   docs/format/recording.md#counters
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace heaprec::format {

// Reasons for which a point that fell was not recorded; a counter and a weight for each stand in every block (Books).
enum class LossReason : uint8_t {
  kDroppedByJvm = 0,  // the JVM dropped the event in which the point lay (found afterwards by the byte clock)
  kRingFull = 1,      // no room in any lane
  kLanesBusy = 2,     // every lane was leased
  kThreadLimit = 3,   // candidates (not points) of threads beyond the number of byte clocks
  kNoStack = 4,       // the JVM gave no stack (still recorded when the rest is known: stack kNone)
  kWriteFailed = 5,   // committed, but the file could not be written (disk full, I/O error)
  kOversized = 6,     // an event too big for a lane
  kKilled = 7,        // not yet committed when the process was killed (found by who reads the ring)
  kStackChunks = 8,   // no loss, and no point: objects into which the JVM copies stacks of virtual threads, and their
                      // bytes; counted exactly, never sampled, and in none of the other counters
};
inline constexpr int kLosses = 9;
inline constexpr int kRingLosses = 7;  // those in the ring's counters: the first ones
constexpr bool IsLoss(LossReason reason) { return reason != LossReason::kStackChunks; }
const char* LossReasonName(LossReason loss);  // "missed", "ring_full", ... as in summary and docs/format/recording.md

// Of one stream, cumulative since the start; every block carries them, so a gap is quantified.
// points = committed + thinned + LostPoints();
// committed = written + second_stage + lost[kWriteFailed] once all intervals are closed. Events in flight may be
// missing from the right-hand sides, never the other way round.
struct StreamCounters {
  uint64_t candidates = 0;       // slow-path allocations, or events, seen
  uint64_t candidate_bytes = 0;  // counted by the byte clocks; 0 for events
  uint64_t points = 0;           // sample points that fell
  uint64_t thinned = 0;          // points dropped at the hit because lambda had fallen since they were armed
  uint64_t committed = 0;        // samples published in the ring
  uint64_t written = 0;          // samples written to the file
  uint64_t second_stage = 0;     // committed samples whose weight others took over (VarOpt)
  // Stacks of allocations, as of the drain's last tick: walked raw; asked of JVMTI; walked, but not what JVMTI said.
  uint64_t stacks_walked = 0, stacks_from_jvmti = 0, stack_mismatches = 0;
  uint64_t untracked = 0;  // written samples whose object is not tracked, because the table was full
  std::array<uint64_t, kLosses> lost{};
  std::array<double, kLosses> lost_weight{};  // of the lost points, in the stream's unit

  // Points that never became samples in the ring: lost[kDroppedByJvm, kRingFull, kLanesBusy, kOversized, kKilled].
  uint64_t LostPoints() const;
  void SetStackChunks(uint64_t objects, uint64_t bytes) {
    lost[static_cast<size_t>(LossReason::kStackChunks)] = objects;
    lost_weight[static_cast<size_t>(LossReason::kStackChunks)] = static_cast<double>(bytes);
  }
  uint64_t stack_chunks() const { return lost[static_cast<size_t>(LossReason::kStackChunks)]; }
  double stack_chunk_bytes() const { return lost_weight[static_cast<size_t>(LossReason::kStackChunks)]; }
  // Of all losses: events, and what they stood for.
  uint64_t AllLost() const;
  double AllLostWeight() const;
  // What was counted since `earlier`; 0 where that cannot be.
  StreamCounters Since(const StreamCounters& earlier) const;
  bool operator==(const StreamCounters&) const = default;
};

// The counters of the counters in the order in which files have them.
inline constexpr std::array kStreamCounterFields{
    &StreamCounters::candidates,       &StreamCounters::candidate_bytes, &StreamCounters::points,
    &StreamCounters::thinned,          &StreamCounters::committed,       &StreamCounters::written,
    &StreamCounters::second_stage,     &StreamCounters::stacks_walked,   &StreamCounters::stacks_from_jvmti,
    &StreamCounters::stack_mismatches, &StreamCounters::untracked};

}  // namespace heaprec::format
