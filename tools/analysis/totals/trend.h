// Trends of memory: at what rate an amount grows, since when, and in what time it reaches its limit.
//
//   TimeToFull forecast;
//   forecast.Add(block);                                            // every block
//   if (const auto full = forecast.Soonest()) full->seconds ...
//
// Units:    bytes; seconds since the start of the recording.
// Memory:   about 700 points of each amount, whatever the time.
// Failure:  none. Without significant growth there is no time.
// Maths:    docs/estimates.md#time-until-full
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "format/reader/reader.h"
#include "tools/analysis/estimate/confidence_interval.h"

namespace heaprec::tools {

struct TrendPoint {
  double time_s, value;
};

// Returns the minimum of each of `pieces` equal pieces of the time, so that what collections free does not count as
// change. Pieces without a point are left out. `points`: in order of time.
std::vector<TrendPoint> LowsOf(std::span<const TrendPoint> points, size_t pieces);
// Theil and Sen's slope, with Kendall's interval at 99 %. Needs two points or more.
Estimate SlopeOf(std::span<const TrendPoint> lows);
// The first point of the growth, if the amount was constant before, by least squares; 0: it grows from the beginning.
// first, last: the points that are nearly as likely (95 %).
struct Onset {
  size_t best = 0, first = 0, last = 0;
};
// At least `least` points, of which there must be as many, are part of the growth.
Onset OnsetOf(std::span<const TrendPoint> lows, size_t least);

// An amount over time, of any duration. A point that is older by a factor has a resolution that is lower by it.
class AmountSeries {
 public:
  // Times must not decrease.
  void Add(double time_s, double value);
  // The time from `now_s` until the amount reaches `limit`, if it has grown significantly and goes on like this.
  std::optional<Estimate> SecondsTo(double limit, double now_s) const;

 private:
  // The points of a short time.
  struct Part {
    double from_s, to_s;
    TrendPoint low, high;
  };
  void Thin();
  std::optional<Estimate> Within(size_t first, double limit, double now_s) const;

  std::vector<Part> parts_;
  size_t unthinned_ = 0;
};

// Bytes of a container that the kernel cannot take back, and their limit. nullopt: there is no limit, or it is unknown.
struct ContainerUse {
  uint64_t used = 0;    // as the kernel counts it
  uint64_t needed = 0;  // without files that it can drop
  uint64_t limit = 0;
};
std::optional<ContainerUse> ContainerUseOf(const format::ProcessAccount& account);

enum class Fills : uint8_t { kOldGeneration, kContainer };
const char* FillsName(Fills fills);  // "old generation", "container"

// When a process has no memory left: its old generation, as collections leave it, or its container.
class TimeToFull {
 public:
  struct Answer {
    Fills fills;
    Estimate seconds;  // from at_s on
    double at_s = 0;   // the last snapshot
    uint64_t used = 0, limit = 0;
  };
  void Add(const format::Block& block);
  void Add(const format::ProcessState& snapshot);
  // What is full first.
  std::optional<Answer> Soonest() const;

 private:
  AmountSeries old_generation_, container_;
  format::ProcessAccount account_;
  double at_s_ = 0;
  std::optional<uint64_t> old_collections_;
  format::Amount old_before_;
};

}  // namespace heaprec::tools
