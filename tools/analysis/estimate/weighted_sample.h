// A sample as the estimators see it: how large it is, and what it represents. Or a row, which represents all points of
// a class and path in a block, as if it were one sample.
//
// Units:    the stream's: bytes, or events. An event is as an object of one byte.
// Maths:    docs/estimates.md#estimates
#pragma once

#include <cstdint>

#include "format/model/row.h"

namespace heaprec::tools {

struct CountedClass;

struct WeightedSample {
  uint32_t index = 0;                // into the samples of its block, or into its rows
  const format::Row* row = nullptr;  // of the block; null: it is a sample
  format::Index class_id = format::kNone, stack = format::kNone;
  uint64_t interval = 0;  // that it was drawn in
  double size = 0;        // of the object, 1 for an event; 0: the chance of inclusion is unknown
  double weight = 0;      // through both stages; the chance of inclusion is size / weight
  double objects = 0;     // that it stands for

  const CountedClass* of_class = nullptr;  // to whose count it was scaled

  uint64_t points() const { return row != nullptr ? row->points : 1; }
};

}  // namespace heaprec::tools
