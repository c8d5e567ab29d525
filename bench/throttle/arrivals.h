// Arrivals: simulated ones, and a trace of a real application, over and over.
//
// Units:    time in s and ns, sizes in bytes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/throttle/policies.h"

namespace heaprec::bench {

inline constexpr uint32_t kSites = 64;

struct Stream {
  std::string name;
  double length = 1;  // s, where there is a step; else the part of the time wanted that it gets (it has many events)
  double step = 0;    // when the load changes; 0: no step to recover from
  std::function<Arrival()> next;
};

// Fresh streams, each from its beginning. Empty `trace`: without it.
std::vector<Stream> SteadyStreams(uint64_t seed, const std::string& trace);
std::vector<Stream> StepStreams(uint64_t seed);

}  // namespace heaprec::bench
