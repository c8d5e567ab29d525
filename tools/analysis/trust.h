// Can the numbers of a recording be relied on? Reasons for no, and notes that do not change a yes.
//
// no: not one block; damaged bytes in the middle; attribution by refill (source tlab); of any stream: more than 0.1 %
// of the bytes (or events) lost, books that do not add up, an interval over its cap; counted bytes that the samples
// cannot have come from; samples=N that are too few for the recording; a ring that could not be read to its end or
// whose names are gone.
#pragma once

#include <string>
#include <vector>

#include "tools/analysis/tally.h"
#include "tools/analysis/volume.h"
#include "tools/input/recording.h"

namespace heaprec::tools {

struct Trust {
  std::vector<std::string> reasons;  // empty: trustworthy
  std::vector<std::string> notes;
};

// After the recording was read to its end.
Trust Judge(const Recording& recording, const format::PerStream<Tally>& tallies, const Volume& volume);

}  // namespace heaprec::tools
