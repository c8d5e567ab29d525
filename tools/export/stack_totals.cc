#include "tools/export/stack_totals.h"

namespace heaprec::tools {

void StackTotals::Add(const FilteredBlock& block) {
  catalogue_.Enter(block.block, &block.names);
  for (const format::Sample* const sample : block.samples) {
    Catalogue::Id stack = catalogue_.StackOf(sample->stack);
    if (stack == Catalogue::kNone) stack = catalogue_.UnknownStack();
    if (stack >= of_.size()) of_.resize(catalogue_.stacks().size());
    of_[stack].Add(*sample, block.calibration.WeightOf(*sample));
  }
}

}  // namespace heaprec::tools
