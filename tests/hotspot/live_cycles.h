// Puts the hooks in and out of a running JVM, again and again, and looks at what is left behind.
//
// Context:  live phase, an agent's thread; other threads allocate meanwhile.
// Failure:  the first thing that went wrong, in words; empty: nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "recorder/arch/detour.h"

namespace heaprec::hotspot {

// The first bytes of functions, more than a detour changes.
using Code = std::vector<uint8_t>;
Code CodeAt(uintptr_t function);

// A detour that is installed, its function, and the function's code as it was without it.
struct Diverted {
  arch::Detour* detour;
  uintptr_t function;
  Code own;
};

// $HEAPREC_CYCLES, or 50.
int Cycles();

// After each removal the code must be the function's own again, after each installation not.
std::string CycleDetours(const std::vector<Diverted>& diverted, arch::GracePeriod grace, int cycles);

// Any pair of steps; each says what went wrong.
std::string CycleSteps(const std::function<std::string()>& install, const std::function<std::string()>& remove,
                       int cycles);

}  // namespace heaprec::hotspot
