// What a first pass over a recording with a census says to the estimates of a second.
//
// Failure:  no strata, and why.
// Maths:    docs/estimates.md#post-stratification
#pragma once

#include <string>

#include "format/reader/reader.h"
#include "tools/analysis/estimate/row_calibration.h"
#include "tools/analysis/estimate/weighted_sample.h"
#include "tools/input/recording.h"
#include "tools/render/value.h"

namespace heaprec::tools {

struct CensusStrata {
  Strata strata;
  bool has_census = false;  // a census counted everything
  std::string why_none;     // why there are no strata although there is a census

  // Returns "; adjusted by the census", "; not adjusted by its census: ...", or "".
  std::string Text() const;
  // {"strata": 12, "reason": ""}; null unless a census counted everything
  render::Value AsValue() const;
};

// Reads the recording from its start, if it has a census that counted all. Uses it only if it ended with its recording;
// otherwise the TLABs in use at its end are unknown. `by_rows`: which blocks the design that gets the strata reads from
// their rows, or calibrates to them.
CensusStrata StrataOf(const Recording& recording, const ByRows& by_rows = {});

// Sums the counts of selected classes in a complete census, including classes without samples.
class CountedClasses {
 public:
  // `takes`: whether the class with this index in the block's dictionaries is selected.
  template <typename Takes>
  void Add(const format::Block& block, Takes takes) {
    for (const format::CensusRow& row : block.census) {
      if (takes(row.class_id)) Add(block, row);
    }
  }
  double bytes() const { return bytes_; }
  double objects() const { return objects_; }
  // A census counts stack chunks, but no estimate includes them.
  bool has_stack_chunks() const { return has_stack_chunks_; }

 private:
  void Add(const format::Block& block, const format::CensusRow& row);

  double bytes_ = 0, objects_ = 0;
  bool has_stack_chunks_ = false;
};

}  // namespace heaprec::tools
