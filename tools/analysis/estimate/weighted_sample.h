// A sample as the estimators see it: how large, with which chances it was drawn, and where it lay on the line of the
// second stage. Or a row, which stands for all points of a class and path in a block, as if it were one sample.
//
// Units:    the stream's: bytes, or events. An event is as an object of one byte.
// Maths:    docs/estimates.md#estimates
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "format/model/row.h"
#include "format/model/stream.h"

namespace heaprec::tools {

// The nodes of the second stage's order, from coarse to fine: each lies in one piece on the line, within those before.
// kSample: in random order within the node of a thread.
enum class OrderLevel : uint8_t { kClass, kMethod, kStack, kThread, kSample };
inline constexpr size_t kNodes = 4;  // all but kSample
inline constexpr size_t kGrains = kNodes + 1;

struct ClassOfStratum;

struct WeightedSample {
  uint32_t index = 0;                // into the samples of its block, or into its rows
  const format::Row* row = nullptr;  // of the block; null: it is a sample
  // As the sample has them. By these samples are grouped, in an order in which they are far from each other.
  format::Index class_id = format::kNone, stack = format::kNone;
  uint64_t interval = 0;    // that it was drawn in
  double size = 0;          // of the object, 1 for an event; 0: the chance of inclusion is unknown
  double weight = 0;        // through both stages; the chance of inclusion is size / weight
  double first_weight = 0;  // after the first stage: <= weight, equal if the second did not raise it
  double objects = 0;       // that it stands for

  // Values that every subset needs: the probabilities of exclusion by both stages and by the second, and the first
  // stage's part (weights of squares in docs/estimates.md#variance); objects per byte.
  double exclusion = 0, second_stage_exclusion = 0, first_stage_part = 0, objects_per_byte = 0;
  void SetChances();

  // The line it lay on, if the second stage raised it (else 0): the `rank`-th of `in_line` samples.
  uint64_t line = 0;
  uint32_t rank = 0, in_line = 0;
  // What is left of the variance at an end of a piece of the line if the piece is the sample's node of that grain, over
  // that at an end of a single sample: 1 for rare nodes, for single samples, and of grains that nobody asked for.
  std::array<float, kGrains> rounding{1, 1, 1, 1, 1};
  // Towards a neighbour on the line (which is a circle): the grain at which the two part, and the neighbour's rounding.
  struct Side {
    OrderLevel parted = OrderLevel::kSample;
    float rounding = 1;
  };
  Side before, after;

  const ClassOfStratum* of_class = nullptr;  // of the stratum that it was scaled to

  uint64_t points() const { return row != nullptr ? row->points : 1; }
  // By the second stage, of one that is not scaled.
  double raised() const { return weight - first_weight; }
};

inline void WeightedSample::SetChances() {
  if (!(weight > 0)) return;
  exclusion = 1 - size / weight;
  second_stage_exclusion = raised() / weight;
  first_stage_part = (first_weight - size) / weight;
  objects_per_byte = objects / weight;
}

}  // namespace heaprec::tools
