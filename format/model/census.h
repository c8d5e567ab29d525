// What was counted object by object in TLABs that were walked, and outside of TLABs (option census).
//
// Each TLAB that a thread was done with, and each object outside of them, is a candidate; all of them are walked, or
// each with a probability that was fixed before it (weight: 1 / probability). A walk counts every object of its TLAB.
//
// Units:    bytes; time in ns since the start of the recording.
// Maths:    docs/streams.md#census   Format: docs/format/recording.md#census
#pragma once

#include <array>
#include <cstdint>

#include "format/model/names.h"

namespace heaprec::format {

enum class CensusMode : uint8_t { kOff = 0, kAll = 1, kDrawn = 2 };

// Rows are of the second that begins at a multiple of this.
inline constexpr uint64_t kCensusSlotNs = 1'000'000'000;

// A sum over walks. The weight beyond 1 is apart: where all are walked it is 0, and the rest is whole numbers.
struct CensusSum {
  uint64_t counted = 0;      // found
  double weight_excess = 0;  // sum of (w - 1) x: counted + excess is an unbiased estimate of all
  double variance = 0;       // sum of w (w - 1) x^2: an unbiased estimate of the variance of that
  double estimate() const { return static_cast<double>(counted) + weight_excess; }
  void Add(uint64_t found, double weight);
  CensusSum& operator+=(const CensusSum& other);
  bool operator==(const CensusSum&) const = default;
};

// What walks of one thread's TLABs found of one class in one second; rows of the same add up. In a total it is of all
// classes: their variances do not add up, for a walk finds them together.
struct CensusRow {
  uint64_t time_ns = 0;  // of the second's start
  Index thread = kNone;  // the platform's: a carrier's, where virtual threads run
  Index class_id = kNone;
  uint64_t walks = 0;  // that found it
  CensusSum objects, bytes;
  bool operator==(const CensusRow&) const = default;
};

// Cumulative since the start.
struct CensusCounters {
  uint64_t tlabs = 0, tlab_bytes = 0;               // candidates
  uint64_t outside = 0, outside_bytes = 0;          // likewise: objects
  uint64_t walks = 0, walked_bytes = 0;             // that were walked, as far as they could be
  uint64_t aborted = 0, aborted_bytes = 0;          // walks that met what cannot be an object; what they left out
  uint64_t lost = 0, lost_bytes = 0;                // of the walks: found no room, or were not written
  uint64_t over_budget = 0, over_budget_bytes = 0;  // not drawn any more: the second had had its walks
  uint64_t unvisited = 0, unvisited_bytes = 0;      // TLABs in use at the end, where the JVM could not be stopped
  bool operator==(const CensusCounters&) const = default;
};

// In the order in which files and rings have them.
inline constexpr std::array kCensusCounterFields{
    &CensusCounters::tlabs,         &CensusCounters::tlab_bytes,     &CensusCounters::outside,
    &CensusCounters::outside_bytes, &CensusCounters::walks,          &CensusCounters::walked_bytes,
    &CensusCounters::aborted,       &CensusCounters::aborted_bytes,  &CensusCounters::lost,
    &CensusCounters::lost_bytes,    &CensusCounters::over_budget,    &CensusCounters::over_budget_bytes,
    &CensusCounters::unvisited,     &CensusCounters::unvisited_bytes};
inline constexpr size_t kCensusCounts = kCensusCounterFields.size();
// Their places in it, for who counts in a ring.
enum class CensusCount : uint8_t {
  kTlabs,
  kTlabBytes,
  kOutside,
  kOutsideBytes,
  kWalks,
  kWalkedBytes,
  kAborted,
  kAbortedBytes,
  kLost,
  kLostBytes,
  kOverBudget,
  kOverBudgetBytes,
  kUnvisited,
  kUnvisitedBytes
};

inline void CensusSum::Add(uint64_t found, double weight) {
  const auto x = static_cast<double>(found);
  counted += found;
  weight_excess += (weight - 1) * x;
  variance += weight * (weight - 1) * x * x;
}

inline CensusSum& CensusSum::operator+=(const CensusSum& other) {
  counted += other.counted;
  weight_excess += other.weight_excess;
  variance += other.variance;
  return *this;
}

}  // namespace heaprec::format
