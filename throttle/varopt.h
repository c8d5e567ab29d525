// Second stage: reduces the points of one interval to at most `cap`. Weights change as little as possible, and each
// class, site and thread keeps its share.
//
// tau solves sum min(1, w_i / tau) = cap. Point i is kept with probability min(1, w_i / tau), and its weight becomes
// max(w_i, tau); exactly cap points are kept. They are chosen by systematic sampling in the order of their keys, so a
// class, a site or a thread keeps its number of points up to rounding. Order and random offset depend on (seed, point)
// only, so the result is the same for the same points in any order.
//
// Units:    weights in bytes; time in ns since the start of the recording.
// Context:  drain (it allocates).   Maths: docs/sampler.md#second-stage
// Source:   Cohen, Duffield, Kaplan, Lund, Thorup, "Efficient stream sampling for variance-optimal estimation of subset
//           sums", SIAM J. Comput. 40(5), 2011; systematic sampling of an ordered list: Madow, Madow 1944.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heaprec::throttle {

// A point that the first stage kept. The keys only define the order, so they may have any values that are equal for
// equal names (0: unknown). Points of one class are neighbours; among these, points with similar call paths; among
// these, points of one stack, then of one thread.
struct BufferedPoint {
  uint64_t id = 0;  // unique in the recording
  double weight = 0;
  uint64_t time_ns = 0;  // not used here
  uint64_t class_key = 0;
  uint64_t call_path = 0;  // hashes of methods, the nearest to the allocation in the top bits
  uint64_t stack_key = 0;
  uint64_t thread_key = 0;
};

struct Reduction {
  double tau = 0;            // 0: all kept, weights unchanged; +infinity: none (cap 0)
  std::vector<size_t> kept;  // indices into the input, ascending; size() <= cap
  double WeightOf(double weight) const { return weight > tau ? weight : tau; }
};

// How many points may be kept, as a piece of a line with marks at distance 1.
// docs/sampler.md#a-limit-for-the-whole-recording
struct SampleQuota {
  double length = 0;      // target of sum min(1, w / tau), >= 0
  double first_mark = 0;  // position of the first mark on the stretch, in (0, 1]
  size_t marks = 0;       // number of marks on the piece, and so of kept points: `length` rounded down or up
};

// Precondition: weights > 0 and finite.
Reduction ReduceToQuota(std::span<const BufferedPoint> points, const SampleQuota& quota, uint64_t seed);

// The same with a piece of length `cap`: keeps exactly `cap` points if there are at least as many.
Reduction ReduceToCap(std::span<const BufferedPoint> points, size_t cap, uint64_t seed);

}  // namespace heaprec::throttle
