// What a table says of a group of samples (a class, a site, a node of a tree), over one recording or several.
//
// Several recordings were drawn apart: values add up, and so do variances. Their two sides differ, so
// each side adds up on its own. What a side allows for lost points adds up in full: all of them may belong to one
// group.
//
// Units:    bytes and objects; shares from 0 to 1. Of a stream of events, bytes and objects are events.
// Context:  pure functions.
// Maths:    docs/estimates.md#several-recordings
#pragma once

#include <cstdint>

#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/analysis/estimate/estimator.h"
#include "tools/analysis/estimate/subset.h"

namespace heaprec::tools {

struct GroupEstimates {
  uint64_t samples = 0;
  Estimate bytes, objects;
  Estimate share;      // of all that was recorded, in bytes
  Estimate mean_size;  // bytes per object
};

inline constexpr GroupEstimates kUnknownGroup{0, kUnknownEstimate, kUnknownEstimate, kUnknownEstimate,
                                              kUnknownEstimate};

GroupEstimates EstimateGroup(const Subset& group, const Estimator& estimator);
// Estimates a group without samples: the upper ends are the detection limits. Returns kUnknownGroup if nothing at all
// was observed, because there is no limit then.
GroupEstimates EstimateUnseen(const Estimator& estimator);

// Replaces the estimates of a group by its counted bytes and objects. `whole`: the bytes that its share refers to.
void SetCounted(double bytes, double objects, double whole, GroupEstimates* of);

// Adds two estimates from independent samples.
Estimate Sum(const Estimate& one, const Estimate& other);

// Adds what another recording says of the same group. `whole`, `whole_of_one`: the bytes of all that the sum so far,
// and the other, recorded.
GroupEstimates Sum(const GroupEstimates& sum, double whole, const GroupEstimates& one, double whole_of_one);

}  // namespace heaprec::tools
