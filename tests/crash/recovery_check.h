// What is left of a recording, against what the witness says.
#pragma once

#include <string>
#include <vector>

#include "tests/crash/killed_process.h"

namespace heaprec::crash {

struct Inquest {
  std::vector<std::string> findings;  // empty: all is as it has to be
  size_t acknowledged = 0;            // samples whose commit had returned
  size_t lost = 0;                    // of these, neither in the files nor in the ring, nor dropped by a bound
  size_t counted = 0;                 // the same, but the counters say that they were not written
  size_t rows = 0, from_ring = 0, files = 0;
};

// Before the files are read; the victim may be alive, and may then commit more.
std::vector<Object> Acknowledged(const Witness& witness, uint32_t threads);

// Reads as the command does. `acknowledged` have to be there, names and weights included; nothing twice, nothing out of
// order, nothing that was never allocated, and the counters add up. Where intervals hold more than their cap, it is the
// sums that have to be those of the witness.
Inquest Examine(const Plan& plan, const Witness& witness, const std::vector<Object>& acknowledged);

}  // namespace heaprec::crash
