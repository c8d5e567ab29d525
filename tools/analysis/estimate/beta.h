// The beta distribution: what shares of two kinds of counts may be.
//
// Context:  pure functions.
// Failure:  none. Parameters must be > 0; beyond kManyCounts in all it is taken as normal.
#pragma once

namespace heaprec::tools {

inline constexpr double kManyCounts = 1e6;

// P(X <= x) of Beta(a, b), 0 <= x <= 1; and P(X > x), as exact where it is small.
double BetaBelow(double x, double a, double b);
double BetaAbove(double x, double a, double b);

// The x of which P(X <= x) = probability.
double BetaQuantile(double probability, double a, double b);

}  // namespace heaprec::tools
