// What tracked samples that are alive at a time add up to: bytes, objects, ages, each with its 95 % interval.
//
// Several recordings were drawn apart, so the samples of all of them may be in one sum.
//
// Units:    bytes, objects; ages in seconds and in collections survived; shares from 0 to 1.
// Maths:    docs/streams.md#live-objects
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "format/reader/reader.h"
#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/analysis/live/lifetimes.h"

namespace heaprec::tools {

// A sample alive.
struct LiveSample {
  double weight = 0;  // bytes that it stands for at that time
  double size = 0;    // of its object
  double age_s = 0, survived = 0;
};

// A sum of HT estimates and what it takes for their intervals.
struct LiveTotal {
  uint64_t samples = 0;
  uint64_t weightless = 0, unsized = 0;  // what they stand for is unknown: bytes, objects
  double bytes = 0, objects = 0, seen = 0;
  double variance = 0, variance_of_objects = 0;
  double squares = 0;    // of weights
  double old_bytes = 0;  // of those that survived a collection

  void Add(const LiveSample& one);
  LiveTotal& operator+=(const LiveTotal& other);
  // Bytes that a sample stands for.
  double Unit() const { return bytes > 0 ? variance / bytes : 0; }
};

struct LiveEstimates {
  uint64_t samples = 0;
  // Ranges have no value: from the least that is known to be live to the most that may be.
  Estimate bytes, objects, share;
  // Means and medians of the bytes' ages.
  Estimate mean_age_s, mean_survived;
  double median_age_s = 0, median_survived = 0;
};

// Estimates for a recording in which objects that have not survived a collection may be garbage (Lifetimes::is_range).
// Known are the survivors; ages and survived collections refer to them alone.
struct LiveRange {
  LiveEstimates estimates;  // bytes, objects and share are ranges
  Estimate known_bytes, known_objects;
};

// `unit`: bytes that a sample of any group stands for; `whole`: what shares are of.
// Without ages and collections survived: sums do not have them.
LiveEstimates EstimateTotal(const LiveTotal& group, const LiveTotal& whole, double unit);
LiveEstimates EstimateGroup(const std::vector<LiveSample>& group, const LiveTotal& whole, double unit);
LiveRange RangeOf(const std::vector<LiveSample>& group, const LiveTotal& whole, double unit);
// `least`, `most`: of what has survived, and of all.
LiveRange RangeBetween(const LiveEstimates& least, const LiveEstimates& most, const LiveTotal& whole);

// What is alive at the end of a recording that tracked objects until they died, in all.
//
// Units:    bytes, objects.
// Memory:   as Lifetimes.
// Maths:    docs/streams.md#live-objects
struct LiveAtEndTotals {
  uint64_t samples = 0, untracked = 0;
  Estimate bytes, objects;  // ranges without a value where only major collections tell what is dead
};

class LiveAtEnd {
 public:
  explicit LiveAtEnd(const format::FileHeader& header);
  void Add(const format::Block& block);
  // nullopt: none was tracked.
  std::optional<LiveAtEndTotals> Close(uint64_t end_ns);

 private:
  const bool is_imported_;
  std::optional<Lifetimes> lives_;
  std::vector<uint32_t> samples_, live_checkpoint_;
};

}  // namespace heaprec::tools
