// Since when a group's live bytes grow: the change point in the births of its live samples.
//
// Samples that are live now were born at one rate before the change, and at a higher one since. The interval has every
// time whose likelihood is not much below the largest.
//
// Units:    seconds since the start of the recording.
// Context:  pure functions.
// Maths:    docs/estimates.md#growth
#pragma once

#include <optional>
#include <vector>

#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/analysis/live/live_sum.h"

namespace heaprec::tools {

// `alive`: live at `at_s`; growth is measured from `from_s` on. The interval begins at `from_s` if the bytes may have
// grown all the time. nullopt: too few samples.
std::optional<Estimate> OnsetOf(const std::vector<LiveSample>& alive, double from_s, double at_s);

}  // namespace heaprec::tools
