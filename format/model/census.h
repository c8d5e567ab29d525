// What a census counted: the objects of the TLABs that it walked, and objects outside of TLABs (option census).
//
// Each TLAB that a thread has finished with, and each object outside of TLABs, is a candidate. The census walks all of
// them, or each with a probability fixed in advance (weight: 1 / probability). A walk counts every object of its TLAB.
//
// Units:    bytes; time in ns since the start of the recording.
// Maths:    docs/streams.md#census   Format: docs/format/recording.md#census
#pragma once

#include <array>
#include <cstdint>

#include "format/model/names.h"

namespace heaprec::format {

enum class CensusMode : uint8_t { kOff = 0, kAll = 1, kDrawn = 2 };

// A row covers one second, which begins at a multiple of this.
inline constexpr uint64_t kCensusSlotNs = 1'000'000'000;

// A sum over walks. The part of the weight beyond 1 is separate: it is 0 if all candidates are walked, and everything
// else is whole numbers.
struct CensusSum {
  uint64_t counted = 0;      // found
  double weight_excess = 0;  // sum of (w - 1) x; counted + weight_excess is an unbiased estimate of the total
  double variance = 0;       // sum of w (w - 1) x^2: an unbiased estimate of that estimate's variance
  // sum of w (w - 1) x b, b: the bytes of the walk; for the ratio to the estimate of all bytes
  double covariance = 0;
  double estimate() const { return static_cast<double>(counted) + weight_excess; }
  void Add(uint64_t found, uint64_t walk_bytes, double weight);
  CensusSum& operator+=(const CensusSum& other);
  bool operator==(const CensusSum&) const = default;
};

// What walks of one thread's TLABs found of one class in one second. Rows with the same thread, class and second add
// up. Totals are rows of all classes together, with their own variances: one walk finds several classes, so the
// variances of classes do not add up.
struct CensusRow {
  uint64_t time_ns = 0;  // start of the second
  Index thread = kNone;  // the platform thread; for virtual threads their carrier
  Index class_id = kNone;
  uint64_t walks = 0;  // number of walks that found the class
  CensusSum objects, bytes;
  bool operator==(const CensusRow&) const = default;
};

// Cumulative since the start.
struct CensusCounters {
  uint64_t tlabs = 0, tlab_bytes = 0;       // candidates: TLABs
  uint64_t outside = 0, outside_bytes = 0;  // candidates: objects outside of TLABs
  uint64_t walks = 0, walked_bytes = 0;     // walks, and the bytes that they covered
  // walks that ended early at bytes that are not an object; the bytes not covered
  uint64_t aborted = 0, aborted_bytes = 0;
  uint64_t lost = 0, lost_bytes = 0;                // walks for which the ring had no room, or that were not written
  uint64_t over_budget = 0, over_budget_bytes = 0;  // not drawn: the second already had its maximum of walks
  uint64_t unvisited = 0, unvisited_bytes = 0;      // TLABs in use at the end, if the JVM could not be stopped
  uint64_t MissingBytes() const { return aborted_bytes + lost_bytes + over_budget_bytes + unvisited_bytes; }
  bool is_complete() const { return aborted + lost + over_budget + unvisited == 0 && MissingBytes() == 0; }
  bool operator==(const CensusCounters&) const = default;
};

// In the order of file and ring.
inline constexpr std::array kCensusCounterFields{
    &CensusCounters::tlabs,         &CensusCounters::tlab_bytes,     &CensusCounters::outside,
    &CensusCounters::outside_bytes, &CensusCounters::walks,          &CensusCounters::walked_bytes,
    &CensusCounters::aborted,       &CensusCounters::aborted_bytes,  &CensusCounters::lost,
    &CensusCounters::lost_bytes,    &CensusCounters::over_budget,    &CensusCounters::over_budget_bytes,
    &CensusCounters::unvisited,     &CensusCounters::unvisited_bytes};
inline constexpr size_t kCensusCounts = kCensusCounterFields.size();
// Indices into kCensusCounterFields, for code that counts in a ring.
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

inline void CensusSum::Add(uint64_t found, uint64_t walk_bytes, double weight) {
  const auto x = static_cast<double>(found);
  counted += found;
  weight_excess += (weight - 1) * x;
  variance += weight * (weight - 1) * x * x;
  covariance += weight * (weight - 1) * x * static_cast<double>(walk_bytes);
}

inline CensusSum& CensusSum::operator+=(const CensusSum& other) {
  counted += other.counted;
  weight_excess += other.weight_excess;
  variance += other.variance;
  covariance += other.covariance;
  return *this;
}

}  // namespace heaprec::format
