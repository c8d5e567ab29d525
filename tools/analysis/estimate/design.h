// The sampling design of one stream of a recording: converts its samples for the estimators, block by block.
//
// Units:    as format/model/model.h. For a stream of events, "bytes" means events here and in the estimators.
// Maths:    docs/estimates.md#variance
#pragma once

#include <cstdint>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/analysis/estimate/row_calibration.h"
#include "tools/analysis/estimate/weighted_sample.h"

namespace heaprec::tools {

class Design {
 public:
  explicit Design(const format::FileHeader& header, format::Stream stream = format::Stream::kAllocations);

  // Call before the first block: scales samples to the counts of the same recording's census.
  void SetStrata(Strata strata) { strata_ = std::move(strata); }
  // Call before the first block: scales samples to the rows of their sites.
  void SetCalibration(RowCalibration calibration) { calibration_ = std::move(calibration); }
  const RowCalibration& calibration() const { return calibration_; }

  // The next block, whole, also what the caller filters out. Its samples that are of the stream, in their order; valid
  // until the next block, and no longer than it. `by_rows`: its rows instead. Behind samples with a site stand the rows
  // of sites that have had none, with indices beyond block.samples: SumsBySite.
  std::span<const WeightedSample> Add(const format::Block& block, bool by_rows = false);

  // All samples so far.
  Subset all() const;
  // As if samples had not been calibrated to rows.
  Design Raw() const;
  // Whether a census counted the class of each of them; then they add up to its bytes.
  bool counted_by_class() const { return strata_.count() > 0 && all().samples() > 0 && !has_other_classes_; }
  double bytes_by_class() const { return strata_.bytes(); }
  // Bytes, or events, that the recorder has counted in the intervals so far, plus the samples of intervals without
  // counts: salvage finds samples, but no counts for them.
  uint64_t counted_bytes() const { return counted_; }
  const Subset& uncounted() const { return uncounted_; }
  // Candidates counted in these intervals; for native memory, calls.
  uint64_t counted_candidates() const { return candidates_; }
  // Mean number of bytes, or events, between two sample points, where it was largest; 0: unknown.
  double widest_spacing() const { return widest_spacing_; }
  // Upper limit of the variance of all().bytes() if nothing was sampled: from the counted bytes, and the distance of
  // points at that time.
  double VarianceOfCounted() const { return variance_of_counted_; }
  // Call after the last block: sets the total count, even if the intervals have other counts.
  void SetCounted(uint64_t total) {
    counted_ = total;
    uncounted_ = Subset();
  }
  // Call after the last block: if rows of lost intervals are missing, uses `counters` for what was counted.
  void CountUnwritten(const format::StreamCounters& counters);

 private:
  struct OfSite {
    Subset samples, rows;
  };

  void Draw(const format::Block& block, bool by_rows, bool is_calibrated);
  void AddDrawn(const WeightedSample& drawn);
  void AddUncounted(Subset* into) const;
  void DrawSamples(const format::Block& block);
  // `alone`: only those of sites without samples.
  void DrawRows(const format::Block& block, bool alone);
  void Count(const format::Block& block);
  void Count(const format::Interval& interval);

  const format::Stream stream_;
  const uint64_t interval_ns_;
  const bool has_no_chances_;  // another recorder's samples: the probability of an object is unknown
  Strata strata_;
  RowCalibration calibration_;
  std::vector<WeightedSample> drawn_;         // of the latest block
  std::unordered_set<uint64_t> not_counted_;  // intervals of the latest block without counts
  Subset all_, uncounted_;
  std::vector<OfSite> of_sites_;    // as all_, of the blocks that are calibrated
  Subset raw_uncounted_;            // as uncounted_, likewise, of samples
  bool has_other_classes_ = false;  // that no census counted
  uint64_t counted_ = 0, candidates_ = 0;
  // points of the intervals so far that are not samples: dropped by the second stage, or not written
  uint64_t not_kept_ = 0;
  double widest_spacing_ = 0, variance_of_counted_ = 0;
  double latest_spacing_ = 0, recent_spacing_ = 0;  // of the latest window; the largest in recent time
};

}  // namespace heaprec::tools
