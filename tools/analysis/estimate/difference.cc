#include "tools/analysis/estimate/difference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/analysis/estimate/confidence_interval.h"

namespace heaprec::tools {
namespace {

constexpr double kJeffreys = 0.5;
constexpr double kTail = 0.025;  // per side of a 95 % interval
// Number of samples that an exactly known estimate counts as.
constexpr double kCertain = 1e7;

// The number of samples of equal weight that give the same interval as an estimate: `count` of them, and `reach`, the
// estimate in units of their weight.
struct Counts {
  double count, per_unit;
};

// The side of an estimate on which the true value would be.
enum class Truth : uint8_t { kAbove, kBelow };

// The end of an interval is about kZ standard deviations from the value, where a true value at the end has end / weight
// samples.
double WeightByEnd(double reach, double end) {
  return reach > 0 ? reach * reach / (kZ * kZ * std::max(end, reach * 1e-9)) : 0;
}

// For an interval that extends a below and b above the value, a b is about z^2 V and b - a about z^2 u
// (docs/estimates.md#differences). This fails if an end was cut: no share is above 1, no total below the observed
// bytes. In that case the end on the side of the true value determines the certainty on that side.
Counts CountsOf(const Estimate& of, Truth truth) {
  const double below = of.value - of.low, above = of.high - of.value;
  const double variance = below * above / (kZ * kZ), unit = std::max(above - below, 0.0) / (kZ * kZ);
  const double all = of.value + unit;
  double weight = all > 0 ? (variance + unit * unit) / all : 0;
  if (truth == Truth::kAbove) weight = std::max(weight, WeightByEnd(above, of.high));
  if (truth == Truth::kBelow && below > above) weight = std::max(weight, WeightByEnd(below, of.low));
  weight = std::max(weight, of.value / kCertain);
  return {weight > 0 ? of.value / weight : 0, weight > 0 ? 1 / weight : 0};
}

// Both estimates as counts, to test whether the later one is larger or smaller.
struct Pair {
  Counts before, after;
  double all() const { return before.count + after.count; }
};
Pair AskedForMore(const Estimate& before, const Estimate& after) {
  return {CountsOf(before, Truth::kAbove), CountsOf(after, Truth::kBelow)};
}
Pair AskedForLess(const Estimate& before, const Estimate& after) {
  return {CountsOf(before, Truth::kBelow), CountsOf(after, Truth::kAbove)};
}

// Returns the expected share of `after` in both counts if the amounts have this ratio.
double ShareAt(double ratio, const Pair& of) {
  return ratio * of.after.per_unit / (of.before.per_unit + ratio * of.after.per_unit);
}

// One-sided p-value of `after` in `all` counts, with half the probability of the count itself. For whole counts this is
// the mid-p value of the exact binomial test: it is right on average, and the exact test is too conservative.
double AtLeast(double after, double all, double share) {
  const double at = after > 0 ? BetaBelow(share, after, all - after + 1) : 1;
  const double above = after < all ? BetaBelow(share, after + 1, all - after) : 0;
  return (at + above) / 2;
}
double AtMost(double after, double all, double share) { return AtLeast(all - after, all, 1 - share); }

// Newcombe's method: computes the ends of the difference from the ends of both intervals, which need not be normal.
Estimate ChangeOf(const Estimate& before, const Estimate& after) {
  const double change = after.value - before.value;
  return {change, change - std::hypot(after.value - after.low, before.high - before.value),
          change + std::hypot(after.high - after.value, before.value - before.low)};
}

// Returns an end of Jeffreys' interval of the ratio.
double RatioAt(double share, const Pair& of) {
  if (!(share < 1)) return std::numeric_limits<double>::infinity();
  return share / (1 - share) * of.before.per_unit / of.after.per_unit;
}
double LowRatio(const Pair& of) {
  return of.after.count > 0 ? RatioAt(BetaQuantile(kTail, of.after.count + kJeffreys, of.before.count + kJeffreys), of)
                            : 0;
}
double HighRatio(const Pair& of) {
  if (!(of.before.count > 0)) return std::numeric_limits<double>::infinity();
  return RatioAt(1 - BetaQuantile(kTail, of.before.count + kJeffreys, of.after.count + kJeffreys), of);
}

double RatioOfValues(double before, double after) {
  if (before > 0) return after / before;
  return after > 0 ? std::numeric_limits<double>::infinity() : 1;
}

bool IsNothing(const Estimate& of) { return of.high <= 0; }
bool IsExact(const Estimate& of) { return of.low == of.high; }

// Exactly known values are compared directly; if one is exactly zero, the other's lower end shows whether it is larger.
void CompareExactly(double margin, Alternative asked, Difference* of) {
  const bool is_more = of->after.low > of->before.high * (1 + margin);
  const bool is_less = of->after.high < of->before.low * (1 - margin);
  of->p = of->least_p = is_more || (is_less && asked == Alternative::kEither) ? 0 : 1;
  of->ratio.low = RatioOfValues(of->before.high, of->after.low);
  of->ratio.high = RatioOfValues(of->before.low, of->after.high);
}

}  // namespace

Difference Compare(const Estimate& before, const Estimate& after, double margin, Alternative asked) {
  Difference of{before, after, ChangeOf(before, after), {RatioOfValues(before.value, after.value), 0, 0}};
  of.ratio.high = std::numeric_limits<double>::infinity();
  if (IsUnknown(before) || IsUnknown(after)) {
    of.change = of.ratio = kUnknownEstimate;
    return of;
  }
  if (std::isinf(before.high) || std::isinf(after.high)) return of;
  if (IsNothing(before) || IsNothing(after) || (IsExact(before) && IsExact(after))) {
    CompareExactly(margin, asked, &of);
    return of;
  }
  const Pair more = AskedForMore(before, after), less = AskedForLess(before, after);
  if (!(more.all() > 0) || !(less.all() > 0)) return of;
  of.ratio.low = std::min(LowRatio(more), of.ratio.value);
  of.ratio.high = std::max(HighRatio(less), of.ratio.value);
  const double most = ShareAt(1 + margin, more), least = ShareAt(std::max(1 - margin, 0.0), less);
  of.p = AtLeast(more.after.count, more.all(), most);
  of.least_p = AtLeast(more.all(), more.all(), most);
  if (asked == Alternative::kMore) return of;
  of.p = std::min(1.0, 2 * std::min(of.p, AtMost(less.after.count, less.all(), least)));
  of.least_p = std::min(1.0, 2 * std::min(of.least_p, AtMost(0, less.all(), least)));
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
