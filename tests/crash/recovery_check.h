// Compares what is left of a recording with the notes of the witness.
#pragma once

#include <string>
#include <vector>

#include "tests/crash/killed_process.h"

namespace heaprec::crash {

struct RecoveryCheck {
  std::vector<std::string> findings;  // empty: no defect
  size_t acknowledged = 0;            // samples whose commit had returned
  size_t lost = 0;                    // of these, neither in the files nor in the ring, nor dropped by a limit
  size_t counted = 0;                 // the same, but the counters say that they were not written
  size_t rows = 0, from_ring = 0, files = 0;
};

// Before the files are read; the killed process may still be alive, and commit more.
std::vector<Object> Acknowledged(const Witness& witness, uint32_t threads);

// Reads as the command does. Every sample of `acknowledged` must be there, with its names and weight; none twice, none
// out of order, none that was never allocated; and the counters must add up. If intervals exceed their cap, sums must
// be those of the witness.
RecoveryCheck Examine(const Plan& plan, const Witness& witness, const std::vector<Object>& acknowledged);

}  // namespace heaprec::crash
