// The sampling design of one stream of a recording: turns its samples into what the estimators need, block by block.
//
// Units:    as format/model/model.h. Of a stream of events, "bytes" are events here and in what is built on this.
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

  // Before the first block: scales what is sampled to what a census counted of the same recording.
  void SetStrata(Strata strata) { strata_ = std::move(strata); }
  // Likewise: brings samples to what rows say of their sites.
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
  // Bytes, or events, counted by the recorder in the intervals so far, and the samples of those for which it did not:
  // salvage finds samples, but not what was counted beside them.
  uint64_t counted_bytes() const { return counted_; }
  const Subset& uncounted() const { return uncounted_; }
  // Candidates counted in these intervals: of native memory the calls.
  uint64_t counted_candidates() const { return candidates_; }
  // Bytes, or events, that lie between two sample points on average, where they lay furthest apart; 0: not known.
  double widest_spacing() const { return widest_spacing_; }
  // Variance of all().bytes() before anything is drawn, at most: from what was counted, and how far apart the points
  // were then.
  double VarianceOfCounted() const { return variance_of_counted_; }
  // After the last block: so much was counted in all, whatever the intervals say of it.
  void SetCounted(uint64_t total) {
    counted_ = total;
    uncounted_ = Subset();
  }
  // After the last block: where the rows of lost intervals are missing, what was counted is what `counters` say.
  void CountUnwritten(const format::StreamCounters& counters);

 private:
  struct OfSite {
    Subset samples, rows;
  };

  void Draw(const format::Block& block, bool by_rows, bool is_calibrated);
  void AddDrawn(const WeightedSample& drawn);
  void AddUncounted(Subset* into) const;
  void DrawSamples(const format::Block& block);
  // `alone`: those of sites without samples only.
  void DrawRows(const format::Block& block, bool alone);
  void Count(const format::Block& block);
  void Count(const format::Interval& interval);

  const format::Stream stream_;
  const uint64_t interval_ns_;
  const bool has_no_chances_;  // of another recorder: the chance with which an object was drawn is unknown
  Strata strata_;
  RowCalibration calibration_;
  std::vector<WeightedSample> drawn_;         // of the last block
  std::unordered_set<uint64_t> not_counted_;  // likewise, intervals
  Subset all_, uncounted_;
  std::vector<OfSite> of_sites_;    // as all_, of the blocks that are calibrated
  Subset raw_uncounted_;            // as uncounted_, likewise, of samples
  bool has_other_classes_ = false;  // that no census counted
  uint64_t counted_ = 0, candidates_ = 0;
  uint64_t not_kept_ = 0;  // points of the intervals so far that are not samples: of the second stage, or not written
  double widest_spacing_ = 0, variance_of_counted_ = 0;
  double latest_spacing_ = 0, recent_spacing_ = 0;  // of the last window; the widest of a while
};

}  // namespace heaprec::tools
