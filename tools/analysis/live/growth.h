// Growth of live bytes: the slope of a straight line fitted to the estimates at several instants.
//
//   Growth growth(CollectionInstants(lives, from_ns, to_ns, survived), survived);
//   GrowthSum of_site;
//   for (const Lifetime& life : lives.all()) of_site.Add(growth.Contribution(life, lives));
//   growth.Close(&of_site);
//   const Slope slope = Growth::Of(of_site);
//
// The interval of a slope includes both errors: sampling, and the deviation of the estimates from a line.
//
// Units:    time in ns since the start of the recording; bytes; slopes in bytes per second.
// Failure:  none. With fewer than two samples or two instants the interval is unbounded, and p is 1.
// Maths:    docs/estimates.md#growth
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/analysis/live/lifetimes.h"
#include "tools/analysis/live/live_sum.h"

namespace heaprec::tools {

// The spans in which growth is measured: the whole time, its later half, and the collections of the old generation.
// Indices of PerSpan.
enum GrowthSpan : size_t { kWholeTime, kLaterHalf, kOldCollections };
inline constexpr size_t kGrowthSpans = 3;
template <typename T>
using PerSpan = std::array<T, kGrowthSpans>;

// Returns at most `most` instants: each just before a collection is counted, when the deaths found by the previous one
// are known, and `to_ns`. Before the first of them, `survived` collections have taken place since the recording began.
std::vector<uint64_t> CollectionInstants(const Lifetimes& lives, uint64_t from_ns, uint64_t to_ns, uint64_t survived,
                                         size_t most = 32);
// Returns the instants just before each collection of the old generation in this time ends, except the first, and
// `to_ns`. Empty if there were fewer than three, or if they span less than half of the time and so say nothing about
// the rest.
std::vector<uint64_t> OldCollectionInstants(const Lifetimes& lives, uint64_t from_ns, uint64_t to_ns, size_t most = 32);
// Returns `count` instants, evenly spaced: for memory that no collection frees.
std::vector<uint64_t> EvenlySpacedInstants(uint64_t from_ns, uint64_t to_ns, size_t count = 32);

// The contribution of a sample to the sum of each of its groups.
struct GrowthContribution {
  size_t first = 0;           // first instant at which it is live
  std::vector<double> bytes;  // from that instant on
  double slope = 0, variance = 0;
};

// The sum of a group. Closed sums of several recordings can be added.
struct GrowthSum {
  std::vector<double> bytes;  // live at each instant; for several recordings: empty
  double slope = 0, variance = 0;
  double abs_slope_sum = 0, slope_square_sum = 0;        // sums of |slope| and slope^2 over the samples
  double residual_variance = 0, degrees_of_freedom = 0;  // of the fitted line; set by Close

  void Add(const GrowthContribution& part);
  GrowthSum& operator+=(const GrowthSum& other);
};

struct Slope {
  Estimate per_second;  // may be negative; unbounded if unknown
  double p = 1;         // probability of such growth by chance
  double least_p = 1;   // lowest p possible with this number of samples
};

class Growth {
 public:
  enum class Collections : bool { kAll, kOld };  // kOld: those of the old generation
  // `instants`: ascending. An object counts at an instant only if it has survived `survived` such collections by then.
  Growth(std::vector<uint64_t> instants, uint64_t survived, Collections which = Collections::kAll);

  const std::vector<uint64_t>& instants() const { return instants_; }
  // Returns the contribution of one sample to its groups.
  GrowthContribution Contribution(const Lifetime& life, const Lifetimes& lives) const;
  // Call after the last life of the recording.
  void Close(GrowthSum* of) const;
  static Slope Of(const GrowthSum& closed);

 private:
  const std::vector<uint64_t> instants_;
  const uint64_t survived_;
  const Collections which_;
  std::vector<double> slope_weights_;  // by instant; the slope is the sum of weight * bytes
  double time_square_sum_ = 0;         // sum of squared deviations of the instants from their mean, s^2
};

// When a group's live bytes began to grow: the change point in the births of its live samples.
//
// Samples that are live now were born at one rate before the change, and at a higher one since. The interval has every
// time whose likelihood is not much below the largest.
//
// Units:    seconds since the start of the recording.
// Maths:    docs/estimates.md#growth

// `alive`: live at `at_s`; growth is measured from `from_s` on. The interval begins at `from_s` if the bytes may have
// grown all the time. nullopt: too few samples.
std::optional<Estimate> OnsetOf(const std::vector<LiveSample>& alive, double from_s, double at_s);

}  // namespace heaprec::tools
