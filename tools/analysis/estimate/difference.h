// Compares two independent estimates: is the later one larger, smaller, or is the difference within sampling error?
//
//   std::vector<Difference> rows;                                                              // of a table
//   rows.push_back(Compare(Scaled(before, 1 / seconds), Scaled(after, 1 / other_seconds)));
//   Judge(&rows, 0.05);                                                                        // sets the verdicts
//
// Each estimate is replaced by the number of samples of equal weight that gives its interval on the relevant side. If
// the rates are equal, one of two such counts is binomial, given their sum: that yields the p-value, and Jeffreys'
// interval of the ratio. Both are correct on average with few samples, where the normal approximation is not, and equal
// it with many.
//
// Failure:  none. For unknown estimates, and those without an upper end, p = 1. If one side is exactly 0 and the other
//           is not, the row is new or gone: p = 0.
// Maths:    docs/estimates.md#differences
#pragma once

#include <cstdint>
#include <vector>

#include "tools/analysis/estimate/confidence_interval.h"

namespace heaprec::tools {

// drawing.js has the same order.
enum class Verdict : uint8_t { kSame, kMore, kLess, kNew, kGone };

struct Difference {
  Estimate before, after;
  Estimate change;     // after - before; may be negative
  Estimate ratio;      // after / before; infinite if there was nothing before
  double p = 1;        // probability of a difference at least this large if there is none
  double least_p = 1;  // smallest p-value that is possible with this number of samples
  double q = 1;        // the lowest false discovery rate at which it is significant
  Verdict verdict = Verdict::kSame;
  // For several runs (replicates.h); 0: unknown.
  double error = 0;       // relative standard error of the difference, including variation between runs
  double freedom = 0;     // degrees of freedom of `error`
  double detectable = 0;  // the smallest relative change that four of five comparisons would find
};

// The alternative hypothesis: any difference, or an increase only.
enum class Alternative : uint8_t { kEither, kMore };

// Both estimates have the same unit: per second, per operation, or shares. `margin`: a ratio from 1 - margin to 1 +
// margin is no difference.
Difference Compare(const Estimate& before, const Estimate& after, double margin = 0,
                   Alternative asked = Alternative::kEither);

// Sets the verdicts by Benjamini and Hochberg's procedure: of the rows reported as different, on average at most `rate`
// are not different. Rows with too few samples to differ significantly are not tested.
void Judge(std::vector<Difference>* rows, double rate);

}  // namespace heaprec::tools
