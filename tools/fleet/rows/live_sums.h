// What the tracked samples of a recording that are live at a time say, as numbers that add up over recordings.
//
// A row of the table `live` is one.
//
// Units:    bytes, objects; ages in seconds.
// Maths:    docs/estimates.md#live-objects, docs/estimates.md#fleet
#pragma once

#include <cstdint>

#include "tools/analysis/live/live_sum.h"

namespace heaprec::tools::fleet {

// Where only major collections tell what is dead (generational ZGC), some may be garbage.
enum class LiveState : uint8_t { kLive = 1, kMayBeGarbage = 2 };

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

}  // namespace heaprec::tools::fleet
