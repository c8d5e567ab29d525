// By how much the samples of an interval that are followed are raised to stand for those that found no place.
//
// Maths:    docs/sampler.md#live-objects
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "format/reader.h"

namespace heaprec::tools {

class Raises {
 public:
  // Of a block: intervals and their samples share one. `interval_ns`: of the allocations.
  Raises(const format::Block& block, uint64_t interval_ns);

  double Of(const format::Sample& sample) const;

 private:
  uint64_t IntervalOf(const format::Sample& sample) const { return sample.time_ns / interval_ns_; }
  const uint64_t interval_ns_;
  std::unordered_map<uint64_t, double> raises_;  // by interval; absent: 1
};

}  // namespace heaprec::tools
