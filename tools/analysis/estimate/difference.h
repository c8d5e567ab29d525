// What two estimates that were drawn apart say of each other: is the later one more, less, or is it noise?
//
//   const Difference one = Compare(Scaled(before, 1 / seconds), Scaled(after, 1 / other_seconds));
//   Judge(&differences, 0.05);       // of all rows of a table: sets the verdicts
//
// An estimate tells like so many samples of one weight as give its interval, on the side that is asked for. Of two such
// counts one is binomial in both under the hypothesis that the rates are the same: that gives the p-value, and
// Jeffreys' interval of the ratio. Both are right on average with few samples, where normal ones are not, and the
// normal ones with many.
//
// Context:  pure functions.
// Failure:  none. Unknown estimates, and those without an upper end, tell nothing: p = 1. Beside what is exactly
//           nothing, that of which there is some is new, or gone: p = 0.
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
  Estimate change;     // after - before: may be below 0
  Estimate ratio;      // after / before; infinite if there was nothing before
  double p = 1;        // that noise alone makes so large a difference, if there is none
  double least_p = 1;  // that so few samples can have at all
  double q = 1;        // the least false discovery rate at which it counts as real
  Verdict verdict = Verdict::kSame;
  // Over several runs (replicates.h); 0: not known.
  double error = 0;       // relative standard error of the difference, with what runs vary by
  double freedom = 0;     // its degrees of freedom
  double detectable = 0;  // the least relative change that would have been found in four of five comparisons
};

// What p is to tell: noise from a difference, or from more alone.
enum class Alternative : uint8_t { kEither, kMore };

// Both in the same unit: per second, per operation, or shares. `margin`: a ratio from 1 - margin to 1 + margin is no
// difference.
Difference Compare(const Estimate& before, const Estimate& after, double margin = 0,
                   Alternative asked = Alternative::kEither);

// Benjamini and Hochberg's procedure: of the rows that are said to differ, on average at most `rate` do not. Rows of so
// few samples that they could not differ are not asked.
void Judge(std::vector<Difference>* rows, double rate);

}  // namespace heaprec::tools
