// The two rules of the library, as the recorder uses them: drain ticks of 20 ms, windows that fall between them, one
// interval held and reduced.
#pragma once

#include <memory>

#include "bench/throttle/policies.h"
#include "throttle/controller.h"

namespace heaprec::bench {

std::unique_ptr<Policy> MakeLibraryPolicy(throttle::Rule rule, double rate, uint64_t seed);

}  // namespace heaprec::bench
