// A sample as the estimators see it: how large, and with which chances it was drawn.
//
// Units:    bytes.
// Maths:    docs/sampler.md#estimates
#pragma once

#include <cstdint>

namespace heaprec::tools {

struct Drawn {
  double size = 0;          // of the object; source tlab: 0, for the event stands for bytes of unknown number
  double weight = 0;        // through both stages; the chance of inclusion is size / weight
  double first_weight = 0;  // after the first stage: <= weight, equal if the second did not raise it
  double objects = 0;       // that it stands for

  // The interval that the second stage reduced, and what its fixed size is worth: see Design.
  uint64_t interval = 0;
  double pair_share = 0;  // kappa of docs/sampler.md#variance

  // By the second stage.
  double raised() const { return weight - first_weight; }
};

}  // namespace heaprec::tools
