// What the census of a recording, if it has one, says to the estimates of its samples: found in a pass over it.
//
// Threads:  one.
// Failure:  no strata, and why.
// Maths:    docs/estimates.md#post-stratification
#pragma once

#include <string>

#include "tools/analysis/estimate/strata.h"
#include "tools/input/recording.h"
#include "tools/render/value.h"

namespace heaprec::tools {

struct CensusStrata {
  Strata strata;
  bool has_census = false;
  std::string why_none;  // why there is a census, but no strata

  // "; sharpened by a census", "; not sharpened by its census: ...", or nothing.
  std::string Text() const;
  // {"strata": 12, "reason": ""}; null without a census
  render::Value AsValue() const;
};

// Reads the recording from its start. Uses a census only if it ended with its recording; otherwise the TLABs in use at
// its end are unknown.
CensusStrata StrataOf(const Recording& recording);

}  // namespace heaprec::tools
