// Sums over the tracked samples that are live at a time: bytes, objects, ages, each with its 95 % interval.
//
// Recordings are sampled independently, so a sum may include samples of several recordings.
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

// A live sample.
struct LiveSample {
  double weight = 0;  // bytes that it represents at that time
  double size = 0;    // bytes of its object
  double age_s = 0, survived = 0;
};

// A sum of Horvitz-Thompson estimates, with the sums that its interval needs.
struct LiveTotal {
  uint64_t samples = 0;
  uint64_t weightless = 0, unsized = 0;  // number of samples that represent unknown bytes; unknown objects
  double bytes = 0, objects = 0, seen = 0;
  double variance = 0, variance_of_objects = 0;
  double squares = 0;    // sum of the squares of weights
  double old_bytes = 0;  // bytes that have survived a collection

  void Add(const LiveSample& one);
  LiveTotal& operator+=(const LiveTotal& other);
  // Mean bytes that a sample represents.
  double Unit() const { return bytes > 0 ? variance / bytes : 0; }
};

struct LiveEstimates {
  uint64_t samples = 0;
  // Ranges have no value: they extend from what is certainly live to what may be.
  Estimate bytes, objects, share;
  // Means and medians over bytes.
  Estimate mean_age_s, mean_survived;
  double median_age_s = 0, median_survived = 0;
};

// Estimates for a recording in which objects that have not survived a collection may be garbage (Lifetimes::is_range).
// Only the survivors are certainly live; ages and survived collections refer to them.
struct LiveRange {
  LiveEstimates estimates;  // bytes, objects and share are ranges
  Estimate known_bytes, known_objects;
};

// `unit`: bytes that a sample of any group represents; `whole`: base of the shares. Returns no ages or survived
// collections, because sums do not have them.
LiveEstimates EstimateTotal(const LiveTotal& group, const LiveTotal& whole, double unit);
LiveEstimates EstimateGroup(const std::vector<LiveSample>& group, const LiveTotal& whole, double unit);
LiveRange RangeOf(const std::vector<LiveSample>& group, const LiveTotal& whole, double unit);
// `least`, `most`: estimates of the survivors, and of all.
LiveRange RangeBetween(const LiveEstimates& least, const LiveEstimates& most, const LiveTotal& whole);

struct LiveAtEndTotals {
  uint64_t samples = 0, untracked = 0;
  Estimate bytes, objects;  // ranges without a value if only major collections find dead objects
};

// The total of live objects at the end of a recording that tracked objects.
//
// Units:    bytes, objects.
// Memory:   as Lifetimes.
// Maths:    docs/streams.md#live-objects
class LiveAtEnd {
 public:
  explicit LiveAtEnd(const format::FileHeader& header);
  void Add(const format::Block& block);
  // Returns nullopt if no object was tracked.
  std::optional<LiveAtEndTotals> Close(uint64_t end_ns);

 private:
  const bool is_imported_;
  std::optional<Lifetimes> lives_;
  std::vector<uint32_t> samples_, live_checkpoint_;
};

}  // namespace heaprec::tools
