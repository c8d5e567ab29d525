// The calibrated weight of each sample in the tables of `top` and `summary`: its weight, times the ratio of counted to
// estimated bytes and, with a census, the factor of its class. If requested, also times the factor of its site, which
// scales it to the rows (RowCalibration). Rows also have weights, as in tables that read them.
//
// Units:    bytes and objects; for exceptions throws.
// Failure:  none. Without counts, calibrated weights equal raw ones.
// Maths:    docs/estimates.md#calibration, docs/estimates.md#post-stratification
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "format/reader/reader.h"
#include "tools/analysis/estimate/row_calibration.h"
#include "tools/analysis/estimate/weighted_sample.h"
#include "tools/input/recording.h"
#include "tools/query/filter/event_filter.h"

namespace heaprec::tools {

enum class CalibratedTo : uint8_t {
  kNothing,
  kCounts,
  kRows,
  kCountsApart,  // samples, and rows in a separate table
};

class Calibration {
 public:
  struct Weight {
    double bytes = 0, objects = 0;
  };

  Calibration() { factors_.fill(1); }  // raw weights
  // Reads the recording from its start, more than once with a census or rows; the position of `recording` does not
  // change. Streams that the filter (already started) does not select stay raw.
  static Calibration Of(const Recording& recording, const Filter& filter, CalibratedTo to);

  // Call before the samples of each block.
  void Enter(const format::Block& block);
  Weight WeightOf(const format::Sample& sample);
  // Returns the block's rows that pass the filter: for kRows those of sites without samples; for kCountsApart all, if
  // rows are sufficient for the filter.
  std::vector<const format::Row*> RowsOf(Filter* filter);
  // Returns the weight of a row.
  Weight WeightOf(const format::Row& row);
  // Points of the rows that samples were calibrated to.
  uint64_t points() const { return rows_.points(); }
  // The common factor of a stream's calibrated weights, without the factors of the census.
  double factor(format::Stream stream) const { return factors_[static_cast<size_t>(stream)]; }

 private:
  double Adjusted(double factor, Strata* strata, format::Index class_id);

  std::array<double, format::kStreams> factors_;
  Strata strata_;
  // For rows in a separate table.
  ByRows apart_;
  double factor_apart_ = 1;
  Strata strata_apart_;
  RowCalibration rows_;
  uint64_t interval_ns_ = 0;
  const format::Block* block_ = nullptr;
  bool is_by_rows_ = false, is_apart_ = false;  // the block is calibrated to its rows; its rows are in a separate table
};

}  // namespace heaprec::tools
