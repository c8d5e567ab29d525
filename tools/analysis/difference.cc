#include "tools/analysis/difference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tools/analysis/beta.h"

namespace heaprec::tools {
namespace {

constexpr double kJeffreys = 0.5;
constexpr double kTail = 0.025;  // of a 95 % interval
// An estimate that is known exactly counts as so many samples.
constexpr double kCertain = 1e7;

// As many samples of one weight as tell what an estimate tells: `count` of them, `reach` times the unit it is in.
struct Counts {
  double count, per_unit;
};

// Of a score interval, a and b its reach below and above, a b = z^2 V and b - a = z^2 u (docs/sampler.md#intervals).
Counts CountsOf(const Estimate& of) {
  const double below = of.value - of.low, above = of.high - of.value;
  const double variance = below * above / (kZ * kZ), unit = std::max(above - below, 0.0) / (kZ * kZ);
  const double all = of.value + unit;
  const double weight = std::max(all > 0 ? (variance + unit * unit) / all : 0, of.value / kCertain);
  return {weight > 0 ? of.value / weight : 0, weight > 0 ? 1 / weight : 0};
}

// Of the counts, the share that are `after`'s, were `after` so many times `before`.
double ShareAt(double ratio, const Counts& before, const Counts& after) {
  return ratio * after.per_unit / (before.per_unit + ratio * after.per_unit);
}

// One-sided p-values of `after` in `all` counts, the count itself by half: for whole ones the mid-p value of the exact
// binomial test, which is right on average where the exact one is too careful.
double AtLeast(double after, double all, double share) {
  const double at = after > 0 ? BetaBelow(share, after, all - after + 1) : 1;
  const double above = after < all ? BetaBelow(share, after + 1, all - after) : 0;
  return (at + above) / 2;
}
double AtMost(double after, double all, double share) { return AtLeast(all - after, all, 1 - share); }

// Newcombe's: the ends of the difference from the ends of both, which need not be normal.
Estimate ChangeOf(const Estimate& before, const Estimate& after) {
  const double change = after.value - before.value;
  return {change, change - std::hypot(after.value - after.low, before.high - before.value),
          change + std::hypot(after.high - after.value, before.value - before.low)};
}

Estimate RatioOf(const Counts& before, const Counts& after, double value) {
  const auto at = [&](double share) {
    return share < 1 ? share / (1 - share) * before.per_unit / after.per_unit : std::numeric_limits<double>::infinity();
  };
  const double a = after.count + kJeffreys, b = before.count + kJeffreys;
  const double low = after.count > 0 ? at(BetaQuantile(kTail, a, b)) : 0;
  const double high = before.count > 0 ? at(1 - BetaQuantile(kTail, b, a)) : std::numeric_limits<double>::infinity();
  return {value, std::min(low, value), std::max(high, value)};
}

double RatioOfValues(double before, double after) {
  if (before > 0) return after / before;
  return after > 0 ? std::numeric_limits<double>::infinity() : 1;
}

}  // namespace

Difference Compare(const Estimate& before, const Estimate& after, double margin) {
  Difference of{before, after, ChangeOf(before, after), {RatioOfValues(before.value, after.value), 0, 0}};
  of.ratio.high = std::numeric_limits<double>::infinity();
  if (std::isinf(before.high) || std::isinf(after.high)) return of;
  const Counts old_counts = CountsOf(before), new_counts = CountsOf(after);
  const double all = old_counts.count + new_counts.count;
  if (!(all > 0) || old_counts.per_unit <= 0 || new_counts.per_unit <= 0) return of;
  of.ratio = RatioOf(old_counts, new_counts, of.ratio.value);
  const double most = ShareAt(1 + margin, old_counts, new_counts);
  const double least = ShareAt(std::max(1 - margin, 0.0), old_counts, new_counts);
  const double more = AtLeast(new_counts.count, all, most), less = AtMost(new_counts.count, all, least);
  of.p = std::min(1.0, 2 * std::min(more, less));
  of.least_p = std::min(1.0, 2 * std::min(AtLeast(all, all, most), AtMost(0, all, least)));
  return of;
}

void Judge(std::vector<Difference>* rows, double rate) {
  std::vector<Difference*> asked;
  for (Difference& row : *rows) {
    row.q = 1;
    row.verdict = Verdict::kSame;
    if (row.least_p <= rate) asked.push_back(&row);
  }
  std::sort(asked.begin(), asked.end(), [](const Difference* a, const Difference* b) { return a->p > b->p; });
  double q = 1;
  for (size_t i = 0; i < asked.size(); ++i) {
    Difference& row = *asked[i];
    q = std::min(q, row.p * static_cast<double>(asked.size()) / static_cast<double>(asked.size() - i));
    row.q = q;
    if (q > rate) continue;
    const bool more = row.after.value > row.before.value;
    row.verdict = more ? (row.before.value > 0 ? Verdict::kMore : Verdict::kNew)
                       : (row.after.value > 0 ? Verdict::kLess : Verdict::kGone);
  }
}

}  // namespace heaprec::tools
