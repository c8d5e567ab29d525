// Variances and covariance of two totals of the same samples.
//
// Maths:    docs/estimates.md#variance
#pragma once

namespace heaprec::tools {

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

}  // namespace heaprec::tools
