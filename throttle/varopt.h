// Second stage: reduces the points of one interval to at most `cap`, with the least variance that is possible.
//
// tau solves sum min(1, w_i / tau) = cap; point i is kept with probability min(1, w_i / tau), its weight becomes
// max(w_i, tau); exactly cap are kept. Order and random offset come from hashes of (seed, id), so whoever repeats it on
// the same points gets the same result, in whatever order they come.
//
// Context:  drain (it allocates).   Maths: docs/sampler.md#second-stage
// Source:   Cohen, Duffield, Kaplan, Lund, Thorup, "Efficient stream sampling for variance-optimal estimation of subset
//           sums", SIAM J. Comput. 40(5), 2011; systematic sampling in random order: Madow 1949.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heaprec::throttle {

struct WeightedPoint {
  uint64_t id = 0;  // unique in the recording
  double weight = 0;
};

struct Reduction {
  double tau = 0;            // 0: all kept, weights unchanged; +infinity: none (cap 0)
  std::vector<size_t> kept;  // indices into the input, ascending; size() <= cap
  double WeightOf(double weight) const { return weight > tau ? weight : tau; }
};

// Precondition: weights > 0 and finite.
Reduction ReduceToCap(std::span<const WeightedPoint> points, size_t cap, uint64_t seed);

}  // namespace heaprec::throttle
