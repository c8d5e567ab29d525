// Finds the strata of a recording in a first pass: compares the census count of each class with what its samples
// represent.
//
//   StrataBuilder builder(header);
//   builder.Add(block);                                      // every block
//   design.SetStrata(builder.Build(recording.census_counters()));
//
// Units:    bytes and objects.
// Failure:  no strata without a census that counted everything, or if it is not sufficient; why_none() has the reason.
// Maths:    docs/estimates.md#post-stratification
#pragma once

#include <map>
#include <string>
#include <vector>

#include "format/model/census.h"
#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/weighted_sample.h"

namespace heaprec::tools {

class StrataBuilder {
 public:
  explicit StrataBuilder(const format::FileHeader& header);

  // Adds the next block, unfiltered; `by_rows`: as for the design that gets the strata.
  void Add(const format::Block& block, bool by_rows = false);
  // Call after the last block.
  Strata Build(const format::CensusCounters& counters);

  // Returns why there are no strata; empty if there are some.
  const std::string& why_none() const { return why_none_; }

 private:
  // The sums of a class, or of several classes.
  struct Sums {
    double bytes = 0;                 // represented by the samples
    double counted = 0, objects = 0;  // counted bytes and objects
    Sums& operator+=(const Sums& other);
  };
  using Class = std::map<std::string, Sums>::value_type;

  bool IsComplete(const format::CensusCounters& counters);
  // Whether the count corresponds to at least kMinSamples samples, and there are samples at all.
  bool HasEnoughCounts(const Sums& sums) const;

  const bool counts_all_, is_biased_;
  Design design_;
  std::map<std::string, Sums> classes_;
  double unit_ = 0;                // bytes that a sample represents
  bool has_cut_interval_ = false;  // an interval has samples but no counted bytes
  std::string why_none_;
};

}  // namespace heaprec::tools
