// Fewer samples that stand for all: for pages that would be too large otherwise.
//
// Each sample is kept with a probability in proportion to its weight (1 from a threshold on), by systematic sampling in
// the order of the columns, and those below the threshold are raised to it: sums stay unbiased.
//
// Threads:  one.
// Failure:  none.
#pragma once

#include <cstddef>

#include "tools/query/samples/sample_columns.h"

namespace heaprec::tools {

// Keeps `count` samples, or one fewer or more.
void ThinSamples(size_t count, SampleColumns* columns);

// Leaves out nodes and names of which there is no sample and no row.
void KeepUsedNames(SampleColumns* columns);

}  // namespace heaprec::tools
