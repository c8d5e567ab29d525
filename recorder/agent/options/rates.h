// From the rate that was asked for to the controller's configuration.
//
// Maths:    docs/sampler.md#controller
#pragma once

#include "throttle/controller.h"

namespace heaprec::agent {

// unit_is_event (source=tlab): lambda is a probability per event, not per byte.
throttle::ControllerConfig ControllerFor(double rate_per_second, bool unit_is_event);

// For ByteClock::SetMaxGap: so that all threads together are touched often enough to learn of a new lambda.
double MaxGapOf(const throttle::ControllerConfig& config);

}  // namespace heaprec::agent
