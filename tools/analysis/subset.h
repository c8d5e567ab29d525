// Running sums over the samples of any subset (a class, a site, a thread, a time range): all that its estimates need.
//
// Samples must come interval by interval, as a recording has them. 176 bytes, no allocation: a table of many sites
// holds one each.
//
// Units:    bytes and objects.
// Threads:  one.
// Maths:    docs/sampler.md#variance, name for name
#pragma once

#include <cstdint>

#include "tools/analysis/drawn.h"

namespace heaprec::tools {

// Variances and covariance of a subset's two totals.
struct Spread {
  double bytes = 0, objects = 0, both = 0;
};

class Subset {
 public:
  void Add(const Drawn& sample);

  uint64_t samples() const { return samples_; }
  double bytes() const { return bytes_; }      // sum of weights: unbiased
  double objects() const { return objects_; }  // sum of weight / size: unbiased
  double seen() const { return seen_; }        // bytes of the sampled objects themselves: no total is less
  // How many samples of equal weight would tell as much of the shares within: (sum w)^2 / sum w^2.
  double effective_samples() const { return squares_ > 0 ? bytes_ * bytes_ / squares_ : 0; }
  // As if all were drawn independently: an upper estimate.
  const Spread& independent() const { return independent_; }
  // Sums of the squares of what independent() sums up: how sure that is itself.
  double bytes_fourth() const { return bytes_fourth_; }
  double objects_fourth() const { return objects_fourth_; }
  // Of both stages, what the second's fixed size takes off included. May be below 0 by chance.
  Spread WholeChain() const;
  // Covariance of this subset's totals with the bytes of all samples.
  double bytes_with_all() const { return bytes_with_all_; }
  double objects_with_all() const { return objects_with_all_; }

 private:
  // Sums over pairs of different samples of the interval at hand: (sum c)^2 - sum c^2.
  struct Pairs {
    double bytes = 0, objects = 0;
    Spread squares;
  };
  Spread GainOfPending() const;

  uint64_t samples_ = 0;
  double bytes_ = 0, objects_ = 0, seen_ = 0, squares_ = 0;
  Spread independent_;
  double bytes_fourth_ = 0, objects_fourth_ = 0;
  double bytes_with_all_ = 0, objects_with_all_ = 0;
  Spread gain_;  // of the intervals before the one at hand
  uint64_t interval_ = 0;
  double pair_share_ = 0;
  Pairs pending_;
};
static_assert(sizeof(Subset) == 176);

}  // namespace heaprec::tools
