// Totals of allocations and of exceptions, computed from the blocks of a recording in one pass.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/row_calibration.h"
#include "tools/analysis/estimate/weighted_sample.h"
#include "tools/input/dictionary_names.h"

namespace heaprec::tools {

// Compares counted bytes with sampled ones.
struct CountCheck {
  Estimate raw_bytes;  // from the samples alone
  // In intervals with counted bytes: the count, and the bytes that samples and losses represent. By chance they differ
  // by at most `slack`: five standard deviations plus an allowance for few samples. In the first seconds points may
  // have been so far apart that none of these bytes had one.
  double counted = 0, accounted = 0, slack = 0;
};

// Call after the last block, with a design without strata. `counters`: those of the last block.
CountCheck CheckCounts(const Design& design, const format::StreamCounters& counters);

struct AllocationTotals : CountCheck {
  struct KindSums {
    Estimate bytes, objects, share;
  };
  bool calibrated = false;
  double factor = 1;  // already applied, except to raw_bytes
  Estimate bytes, objects;
  std::array<KindSums, format::kAllocationKinds.size()> kinds;
};

// Total allocations, and those by kind, computed from the blocks of a recording in one pass.
//
// Maths:    docs/estimates.md#estimates
class VolumeOfBlocks {
 public:
  // `strata`: a census for estimates of parts; the total itself comes from the samples and the recorder's counts.
  // `by_rows`: the blocks for which parts, and all objects, are estimated from rows.
  explicit VolumeOfBlocks(const format::FileHeader& header, const Strata& strata = {}, ByRows by_rows = {});
  bool takes_rows(const format::Block& block) const { return by_rows_ && by_rows_(block); }
  // Adds a block. Returns the samples, or rows, of the design for parts: valid until the next call.
  std::span<const WeightedSample> Add(const format::Block& block);
  // `counters`: those of the last block.
  AllocationTotals Close(const format::StreamCounters& counters);
  // The design with which parts are estimated.
  const Design& design() const { return parts_ ? *parts_ : design_; }

 private:
  const ByRows by_rows_;
  const bool has_strata_;
  Design design_;
  std::optional<Design> parts_;  // nullopt: equals design_
  std::array<Subset, format::kAllocationKinds.size()> kinds_;
};

// Totals of thrown exceptions: the exact count, and estimates by class and by site.
//
// Units:    events.
// Maths:    docs/streams.md#exceptions
struct ExceptionTotals {
  struct Group {
    std::string name;
    uint64_t samples = 0;
    Estimate events, share;
  };
  uint64_t counted = 0;
  uint64_t samples = 0;
  bool calibrated = false;
  double factor = 1;   // already applied to the groups
  Estimate estimated;  // total, from the samples alone
  // Ordered by size. A site is the frame that threw: "Class.method:line".
  std::vector<Group> classes, sites;
};

// Computes the totals in one pass over the blocks of a recording.
class ExceptionTotalsBuilder {
 public:
  using Keeps = std::function<bool(const format::Sample&)>;

  // `keeps`: whether a sample is included in the groups; empty: all are.
  explicit ExceptionTotalsBuilder(const format::FileHeader& header, Keeps keeps = {})
      : design_(header, format::Stream::kExceptions), keeps_(std::move(keeps)) {}
  // Call after `names` has entered the block.
  void Add(const format::Block& block, Names* names);
  // `counters`: those of the stream in the last block.
  ExceptionTotals Close(const format::StreamCounters& counters);

 private:
  using Groups = std::unordered_map<std::string, Subset>;
  Design design_;
  const Keeps keeps_;
  Groups classes_, sites_;
};

}  // namespace heaprec::tools
