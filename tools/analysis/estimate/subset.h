// Running sums over the samples of a subset (a class, a site, a thread, a time range), used to estimate it.
//
// Samples may be added in any order. Allocates nothing, because a table has one Subset for each of many sites.
//
// Units:    bytes and objects.
// Threads:  one.
// Maths:    docs/estimates.md#variance, name for name
#pragma once

#include <cstdint>

#include "tools/analysis/estimate/strata.h"
#include "tools/analysis/estimate/weighted_sample.h"

namespace heaprec::tools {

// Variances and covariance of two totals of the same samples.
//
// Maths:    docs/estimates.md#variance
struct Spread {
  double bytes = 0, objects = 0, both = 0;
  Spread& operator+=(const Spread& other) {
    bytes += other.bytes, objects += other.objects, both += other.both;
    return *this;
  }
};

inline Spread operator*(double factor, const Spread& of) {
  return {factor * of.bytes, factor * of.objects, factor * of.both};
}

class Subset {
 public:
  // kOneClass: the subset is all objects of one class, whose total a census may know exactly.
  enum class Holds : bool { kAny, kOneClass };
  explicit Subset(Holds holds = Holds::kAny) : is_class_(holds == Holds::kOneClass) {}
  void Add(const WeightedSample& sample);
  // Adds the samples of another subset.
  Subset& operator+=(const Subset& other);

  uint64_t samples() const { return samples_; }  // of rows: their points
  double bytes() const { return bytes_; }        // sum of weights: unbiased
  double objects() const { return objects_; }    // sum of weight / size: unbiased
  // Samples whose size the recording does not have: objects() lacks their objects.
  uint64_t unsized() const { return unsized_; }
  double seen() const { return seen_; }  // bytes of the sampled objects themselves: a lower limit of the total
  // As if all were drawn independently: of rows unbiased, of samples through both stages an upper estimate.
  const Spread& variance() const { return variance_; }
  // Sums of the squares of the terms of variance(), for its own uncertainty.
  double bytes_fourth() const { return bytes_fourth_; }
  double objects_fourth() const { return objects_fourth_; }
  // The subset is one complete class that a census counted; null: it is not.
  const CountedClass* counted() const;

 private:
  bool is_class_;
  const CountedClass* class_ = nullptr;  // of all samples; null: of several, or of none that was counted
  uint64_t samples_ = 0, unsized_ = 0;
  double bytes_ = 0, objects_ = 0, seen_ = 0;
  Spread variance_;
  double bytes_fourth_ = 0, objects_fourth_ = 0;
};

}  // namespace heaprec::tools
