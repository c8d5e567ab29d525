// How fast what is alive grows: the slope of a straight line through the estimates at several instants.
//
//   const Growth growth(InstantsOf(lives, from_ns, to_ns, survived), survived);
//   GrowthSum of_site;
//   for (const Lifetime& life : ...) of_site.Add(growth.PartOf(life, lives));
//   growth.Close(&of_site);
//   const Slope slope = Growth::Of(of_site);
//
// Two things make a slope uncertain: which objects were sampled, and how far the estimates lie off a line. Both are in
// the interval.
//
// Units:    time in ns since the start of the recording; bytes; slopes in bytes per second.
// Threads:  one.
// Failure:  none. Fewer than two samples, or two instants, tell nothing: the interval has no ends, and p is 1.
// Maths:    docs/estimates.md#growth
#pragma once

#include <cstdint>
#include <vector>

#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/analysis/live/lifetimes.h"

namespace heaprec::tools {

// At most `most` instants, each just before a collection is counted, for what the one before found dead is known
// by then; and `to_ns`. The first is so late that something may have survived `survived` collections since the
// recording began.
std::vector<uint64_t> InstantsOf(const Lifetimes& lives, uint64_t from_ns, uint64_t to_ns, uint64_t survived,
                                 size_t most = 32);
// Each just before a collection of the old generation ends, from the second of this time on; and `to_ns`. Empty: there
// were fewer than three, or they lie within less than half of the time: they would tell nothing of the rest.
std::vector<uint64_t> OldInstantsOf(const Lifetimes& lives, uint64_t from_ns, uint64_t to_ns, size_t most = 32);
// Of what no collection ends: so many, evenly over the time.
std::vector<uint64_t> EvenInstants(uint64_t from_ns, uint64_t to_ns, size_t count = 32);

// What a sample adds to the sum of each group that it belongs to.
struct GrowthPart {
  size_t first = 0;           // instant at which it is alive
  std::vector<double> bytes;  // from there on
  double slope = 0, variance = 0;
};

// Of a group. Closed ones of several recordings may be added up.
struct GrowthSum {
  std::vector<double> bytes;  // alive at each instant; of several recordings: empty
  double slope = 0, variance = 0;
  double reach = 0, squares = 0;  // of the samples' parts in the slope: sum of sizes, and of squares
  double off = 0, freedom = 0;    // variance by what lies off the line, and its degrees of freedom; after Close

  void Add(const GrowthPart& part);
  GrowthSum& operator+=(const GrowthSum& other);
};

struct Slope {
  Estimate per_second;  // may be below 0; without ends if nothing is known
  double p = 1;         // that so large a growth comes by chance
  double least_p = 1;   // that as many samples can have at all
};

class Growth {
 public:
  enum class Collections : bool { kAll, kOld };  // kOld: those of the old generation
  // `instants`: ascending. An object counts at an instant only if it has survived `survived` such collections by then.
  Growth(std::vector<uint64_t> instants, uint64_t survived, Collections which = Collections::kAll);

  const std::vector<uint64_t>& instants() const { return instants_; }
  GrowthPart PartOf(const Lifetime& life, const Lifetimes& lives) const;
  // After the last life of the recording.
  void Close(GrowthSum* of) const;
  static Slope Of(const GrowthSum& closed);

 private:
  const std::vector<uint64_t> instants_;
  const uint64_t survived_;
  const Collections which_;
  std::vector<double> share_;  // of an instant in the slope: sum of share * bytes
  double spread_ = 0;          // of the instants: sum of squares, s^2
};

}  // namespace heaprec::tools
