// Converts the requested rate to the controller's configuration.
//
// Maths:    docs/sampler.md#controller
#pragma once

#include "throttle/controller.h"

namespace heaprec::agent {

inline constexpr double kMaxPointsPerSecond = 100'000;
// CPU time per point, including the drain's, on a machine whose caches are shared with other programs: with a walked
// stack, and with one from GetStackTrace.
inline constexpr double kWalkedPointNs = 2000, kAskedPointNs = 4000;

// The limit for points=max: 1 % of all CPUs, in points with a walked stack.
double MostPointsPerSecond();

// unit_is_event: lambda is a probability per event, not per byte.
throttle::ControllerConfig ControllerFor(double rate_per_second, bool unit_is_event);

// For ByteClock::SetMaxGap: makes all threads together update their clocks often enough to notice a new lambda.
double MaxGapOf(const throttle::ControllerConfig& config);

}  // namespace heaprec::agent
