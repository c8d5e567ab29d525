// Sums of the samples of a class or site in a time, which add up over time and recordings.
//
// A row of the tables `sums` and `hours` has these. Variances are stored as 32-bit floats: 7 digits are sufficient, and
// sums of a folder are rounded in the same way. Fourth powers do not fit into them.
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
  double bytes = 0, objects = 0;  // sums of weights
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
  bool is_wide;  // Float64, otherwise Float32
  int power;     // of the factor by which a sum grows if all weights grow by that factor
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
  double counted = 0;  // bytes counted by the recorder; 0: not counted
  double weighed = 0;  // the same bytes as represented by samples and losses
  double lost = 0;     // bytes of points without a sample
  Sums all;
  Totals& operator+=(const Totals& other);
  // Counted bytes; without a count, those that samples represent.
  double Bytes() const { return IsCalibrated() || !(all.bytes > 0) ? counted : all.bytes; }
  // Counted over weighed; 1 without a count.
  double Factor() const { return IsCalibrated() ? counted / weighed : 1; }
  bool IsCalibrated() const { return counted > 0 && weighed > 0; }
};

// Whether objects may be garbage, if only major collections find dead objects (generational ZGC).
enum class LiveState : uint8_t { kLive = 1, kMayBeGarbage = 2 };

// Sums over the live tracked samples of a recording at a time, which add up over recordings. A row of the table `live`
// has these. Ages are in seconds.
//
// Maths:    docs/estimates.md#live-objects, docs/estimates.md#fleet
struct LiveSums {
  double bytes = 0, objects = 0;  // sums of weights
  double seen = 0;                // bytes of the sampled objects themselves
  double samples = 0;
  double variance = 0, variance_objects = 0;
  double squares = 0;                    // sum of the squares of weights
  double aged = 0;                       // sum of weight times age
  double aged_once = 0, aged_twice = 0;  // sums of each sample's variance times its age, and times its age squared

  void Add(const LiveSample& one);
  // Rounds to the precision of the table.
  void Round();
  LiveSums& operator+=(const LiveSums& other);
  LiveTotal total() const;
};

// The columns of LiveSums in the table, in this order.
struct LiveColumn {
  const char* name;
  double LiveSums::*value;
  bool is_wide;  // Float64, otherwise Float32
};
inline constexpr LiveColumn kLiveColumns[] = {
    {"bytes", &LiveSums::bytes, true},         {"objects", &LiveSums::objects, true},
    {"seen", &LiveSums::seen, true},           {"samples", &LiveSums::samples, false},
    {"variance", &LiveSums::variance, false},  {"variance_objects", &LiveSums::variance_objects, false},
    {"squares", &LiveSums::squares, false},    {"aged", &LiveSums::aged, true},
    {"aged_once", &LiveSums::aged_once, true}, {"aged_twice", &LiveSums::aged_twice, true},
};

// kWhole: only for rows of `live`.
enum class RowGrain : uint8_t { kWhole = 0, kClass = 1, kSite = 2, kClassAndSite = 3 };

// The class and site of a row of sums; 0 if the grain does not have it.
struct RowKey {
  RowGrain level = RowGrain::kClass;
  uint64_t class_id = 0, site = 0;
  auto operator<=>(const RowKey&) const = default;
};

}  // namespace heaprec::tools::fleet
