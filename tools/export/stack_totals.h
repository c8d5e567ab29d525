// What the samples of each stack add up to.
//
// Memory:   bounded by the distinct stacks.
#pragma once

#include <vector>

#include "tools/export/chunk_index.h"
#include "tools/export/exporter.h"
#include "tools/export/totals.h"

namespace heaprec::tools {

class StackTotals {
 public:
  explicit StackTotals(const ExportSettings& settings)
      : catalogue_(settings.lines ? Catalogue::Detail::kLine : Catalogue::Detail::kName, settings.hides) {}

  // Before the first block of a recording.
  void StartRecording() { catalogue_.StartRecording(); }
  void Add(const FilteredBlock& block);
  // Back to zero; names stay.
  void Clear() { of_.clear(); }

  const Catalogue& catalogue() const { return catalogue_; }
  // Of a number of catalogue().stacks().
  Totals Of(Catalogue::Id stack) const { return stack < of_.size() ? of_[stack] : Totals(); }

 private:
  Catalogue catalogue_;
  std::vector<Totals> of_;
};

}  // namespace heaprec::tools
