// What was allocated, in all and by kind, folded from the blocks of a recording in one pass.
//
// Threads:  one.
// Maths:    docs/sampler.md#estimates
#pragma once

#include <array>

#include "format/model.h"
#include "format/reader.h"
#include "tools/analysis/design.h"
#include "tools/analysis/error_bar.h"
#include "tools/analysis/subset.h"

namespace heaprec::tools {

struct Volume {
  struct OfKind {
    Estimate bytes, objects, share;
  };
  bool calibrated = false;
  double factor = 1;   // already in all but raw_bytes
  Estimate raw_bytes;  // from the samples alone
  Estimate bytes, objects;
  std::array<OfKind, format::kKinds> kinds;
};

class VolumeOfBlocks {
 public:
  explicit VolumeOfBlocks(const format::FileHeader& header) : design_(header) {}
  void Add(const format::Block& block);
  // `books`: those of the last block.
  Volume Close(const format::Books& books) const;

 private:
  Design design_;
  std::array<Subset, format::kKinds> kinds_;
};

}  // namespace heaprec::tools
