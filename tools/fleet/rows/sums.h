// What the samples of a place and a time say, as numbers that add up over time and recordings.
//
// A row of the tables `sums` and `hours` is one. Variances are kept as 32-bit floats: 7 digits are enough, and a folder
// of recordings is rounded alike. Fourth powers do not fit into them.
//
// Units:    bytes and objects.
// Maths:    docs/estimates.md#variance, docs/estimates.md#fleet
#pragma once

#include <compare>
#include <cstdint>

#include "tools/analysis/estimate/weighted_sample.h"
#include "tools/analysis/live/live_sum.h"

namespace heaprec::tools::fleet {

struct Sums {
  double bytes = 0, objects = 0;  // of weights
  double seen = 0;                // bytes of the sampled objects themselves
  double samples = 0;
  double variance = 0, variance_objects = 0, covariance = 0;  // of bytes and objects
  double fourth = 0, fourth_objects = 0;                      // sums of the squares of the variances' terms

  static Sums Of(const Subset& subset);
  Sums& operator+=(const Sums& other);
};

// The columns of Sums in the tables, in this order.
struct SumColumn {
  const char* name;
  double Sums::*value;
  bool is_wide;  // Float64, else Float32
  int power;     // of the factor by which a sum grows if all weights grow by it
};
inline constexpr SumColumn kSumColumns[] = {
    {"bytes", &Sums::bytes, true, 1},
    {"objects", &Sums::objects, true, 1},
    {"seen", &Sums::seen, true, 0},
    {"samples", &Sums::samples, false, 0},
    {"variance", &Sums::variance, false, 2},
    {"variance_objects", &Sums::variance_objects, false, 2},
    {"covariance", &Sums::covariance, false, 2},
    {"fourth", &Sums::fourth, true, 4},
    {"fourth_objects", &Sums::fourth_objects, true, 4},
};

// Totals of all samples of a recording in a time, used to calibrate its rows.
struct Totals {
  double seconds = 0;
  double counted = 0;  // bytes, by the recorder; 0: not counted
  double weighed = 0;  // what samples, and losses, say of the same bytes
  double lost = 0;     // bytes of points that no sample shows
  Sums all;
  Totals& operator+=(const Totals& other);
  // Counted bytes; without a count, those that samples represent.
  double Bytes() const { return IsCalibrated() || !(all.bytes > 0) ? counted : all.bytes; }
  // Counted over weighed; 1 without a count.
  double Factor() const { return IsCalibrated() ? counted / weighed : 1; }
  bool IsCalibrated() const { return counted > 0 && weighed > 0; }
};

// Where only major collections tell what is dead (generational ZGC), some may be garbage.
enum class LiveState : uint8_t { kLive = 1, kMayBeGarbage = 2 };

// What the tracked samples of a recording that are live at a time say, as numbers that add up over recordings. A row of
// the table `live` is one. Ages are in seconds.
//
// Maths:    docs/estimates.md#live-objects, docs/estimates.md#fleet
struct LiveSums {
  double bytes = 0, objects = 0;  // of weights
  double seen = 0;                // bytes of the sampled objects themselves
  double samples = 0;
  double variance = 0, variance_objects = 0;
  double squares = 0;                    // of weights
  double aged = 0;                       // of weight times age
  double aged_once = 0, aged_twice = 0;  // of the variance of each sample times its age, and its age squared

  void Add(const LiveSample& one);
  // Rounds to what the table holds.
  void Round();
  LiveSums& operator+=(const LiveSums& other);
  LiveTotal total() const;
};

// The columns of LiveSums in the table, in this order.
struct LiveColumn {
  const char* name;
  double LiveSums::*value;
  bool is_wide;  // Float64, else Float32
};
inline constexpr LiveColumn kLiveColumns[] = {
    {"bytes", &LiveSums::bytes, true},         {"objects", &LiveSums::objects, true},
    {"seen", &LiveSums::seen, true},           {"samples", &LiveSums::samples, false},
    {"variance", &LiveSums::variance, false},  {"variance_objects", &LiveSums::variance_objects, false},
    {"squares", &LiveSums::squares, false},    {"aged", &LiveSums::aged, true},
    {"aged_once", &LiveSums::aged_once, true}, {"aged_twice", &LiveSums::aged_twice, true},
};

// kWhole: rows of `live` only.
enum class RowGrain : uint8_t { kWhole = 0, kClass = 1, kSite = 2, kClassAndSite = 3 };

// What a row of sums is of. 0 where a grain does not tell.
struct RowKey {
  RowGrain level = RowGrain::kClass;
  uint64_t class_id = 0, site = 0;
  auto operator<=>(const RowKey&) const = default;
};

}  // namespace heaprec::tools::fleet
