// Converts the requested rate to the controller's configuration.
//
// Maths:    docs/sampler.md#controller
#pragma once

#include "throttle/controller.h"

namespace heaprec::agent {

inline constexpr double kMaxPointsPerSecond = 100'000;
// CPU time of a point, the drain's part included, on a machine whose caches others use, too. With a walked stack, and
// with one from GetStackTrace.
inline constexpr double kWalkedPointNs = 2000, kAskedPointNs = 4000;

// The limit of points=max: 1 % of all CPUs, in points with a walked stack.
double MostPointsPerSecond();

// unit_is_event: lambda is a probability per event, not per byte.
throttle::ControllerConfig ControllerFor(double rate_per_second, bool unit_is_event);

// For ByteClock::SetMaxGap: all threads together then update their clocks often enough to notice a new lambda.
double MaxGapOf(const throttle::ControllerConfig& config);

}  // namespace heaprec::agent
