// What each sample of a recording stands for in the tables of `top` and `summary`: its weight times what was counted
// over what the samples say of it, and in a recording with a census times its class's factor. If it is asked for, also
// times its site's factor, which brings it to the rows (RowCalibration). Or rows have weights of their own, as in
// tables that read them.
//
// Units:    bytes and objects; of exceptions throws.
// Failure:  none. Where nothing was counted, calibrated weights are the raw ones.
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
  kCountsApart,  // samples, and rows in a table of their own
};

class Calibration {
 public:
  struct Weight {
    double bytes = 0, objects = 0;
  };

  Calibration() { factors_.fill(1); }  // raw weights
  // Reads the recording from its start, more than once with a census or rows; `recording` itself stays where it is.
  // Streams that the filter, which has started, does not take stay raw.
  static Calibration Of(const Recording& recording, const Filter& filter, CalibratedTo to);

  // Before the samples of each block.
  void Enter(const format::Block& block);
  Weight WeightOf(const format::Sample& sample);
  // The block's rows that pass the filter: to kRows of sites without samples; to kCountsApart all, if rows are enough
  // to tell what passes.
  std::vector<const format::Row*> RowsOf(Filter* filter);
  // What a row stands for.
  Weight WeightOf(const format::Row& row);
  // Of the rows that samples were calibrated to.
  uint64_t points() const { return rows_.points(); }
  // What the calibrated weights of a stream have in common; the census's factors are not in it.
  double factor(format::Stream stream) const { return factors_[static_cast<size_t>(stream)]; }

 private:
  double Adjusted(double factor, Strata* strata, format::Index class_id);

  std::array<double, format::kStreams> factors_;
  Strata strata_;
  // Of rows apart.
  ByRows apart_;
  double factor_apart_ = 1;
  Strata strata_apart_;
  RowCalibration rows_;
  uint64_t interval_ns_ = 0;
  const format::Block* block_ = nullptr;
  bool is_by_rows_ = false, is_apart_ = false;  // the block is calibrated to its rows; they are apart
};

}  // namespace heaprec::tools
