// What the samples of a place and a time say, as numbers that add up over time and recordings.
//
// A row of the tables `sums` and `hours` is one. Variances are kept as 32-bit floats: 7 digits are enough, and a folder
// of recordings is rounded alike. Fourth powers do not fit into them.
//
// Units:    bytes and objects.
// Maths:    docs/estimates.md#variance, docs/estimates.md#fleet
#pragma once

#include <cstdint>

#include "tools/analysis/estimate/subset.h"

namespace heaprec::tools::fleet {

struct Sums {
  double bytes = 0, objects = 0;  // of weights
  double seen = 0;                // bytes of the sampled objects themselves
  double samples = 0;
  // Variances of bytes and objects; the covariances of both with the bytes of all samples.
  double variance = 0, variance_objects = 0, with_all = 0, objects_with_all = 0;
  // As if samples were drawn apart; sums of the squares of its terms.
  double apart = 0, apart_objects = 0, fourth = 0, fourth_objects = 0;

  static Sums Of(const Subset& subset);
  Sums& operator+=(const Sums& other);
};

// The columns of Sums in the tables, in this order.
struct SumColumn {
  const char* name;
  double Sums::*value;
  bool is_wide;  // Float64, else Float32
};
inline constexpr SumColumn kSumColumns[] = {
    {"bytes", &Sums::bytes, true},        {"objects", &Sums::objects, true},
    {"seen", &Sums::seen, true},          {"samples", &Sums::samples, false},
    {"variance", &Sums::variance, false}, {"variance_objects", &Sums::variance_objects, false},
    {"with_all", &Sums::with_all, false}, {"objects_with_all", &Sums::objects_with_all, false},
    {"apart", &Sums::apart, false},       {"apart_objects", &Sums::apart_objects, false},
    {"fourth", &Sums::fourth, true},      {"fourth_objects", &Sums::fourth_objects, true},
};

// Of all samples of a recording in a time: what calibrates its rows.
struct Totals {
  double seconds = 0;
  double counted = 0;  // bytes, by the recorder; 0: nobody counted
  double weighed = 0;  // what samples, and losses, say of the same bytes
  double lost = 0;     // bytes of points that no sample shows
  Sums all;
  Totals& operator+=(const Totals& other);
  // Counted over weighed; 1 if nobody counted.
  double Factor() const { return IsCalibrated() ? counted / weighed : 1; }
  bool IsCalibrated() const { return counted > 0 && weighed > 0; }
};

}  // namespace heaprec::tools::fleet
