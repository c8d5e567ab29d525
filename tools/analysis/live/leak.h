// Which of many groups leak: their bytes that survived grow, over the whole time and still in its later half, by more
// than chance explains of so many.
//
// Context:  pure functions.
// Maths:    docs/estimates.md#growth
#pragma once

#include <vector>

#include "tools/analysis/live/live_group.h"

namespace heaprec::tools {

struct Leak {
  Slope all, late;
  double p = 1;  // of the less certain of both
  double q = 1;  // the least false discovery rate at which it counts as a leak
  bool leaks = false;
};

// In the order of the groups. `rate`: the false discovery rate.
std::vector<Leak> LeaksOf(const std::vector<const LiveGroup*>& groups, double rate);

}  // namespace heaprec::tools
