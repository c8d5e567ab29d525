// Converts the requested rate to the controller's configuration.
//
// Maths:    docs/sampler.md#controller
#pragma once

#include "throttle/controller.h"

namespace heaprec::agent {

// unit_is_event: lambda is a probability per event, not per byte.
throttle::ControllerConfig ControllerFor(double rate_per_second, bool unit_is_event);

// For ByteClock::SetMaxGap: all threads together then update their clocks often enough to notice a new lambda.
double MaxGapOf(const throttle::ControllerConfig& config);

}  // namespace heaprec::agent
