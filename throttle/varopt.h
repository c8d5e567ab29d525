// Second stage: reduces the points of one interval to at most `cap`, each with the least possible change of its weight,
// and every place where bytes were allocated with the share it had.
//
// tau solves sum min(1, w_i / tau) = cap; point i is kept with probability min(1, w_i / tau), its weight becomes
// max(w_i, tau); exactly cap are kept. They are chosen by systematic sampling along the order of their places, so that
// a class, a site or a thread keeps its number up to rounding. Order and random offset come from (seed, point), so
// whoever repeats it on the same points gets the same result, in whatever order they come.
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

// A point that the first stage kept. The keys say where it was allocated; they may be anything that is the same for the
// same thing (0: not known), for they only give the order.
struct BufferedPoint {
  uint64_t id = 0;  // unique in the recording
  double weight = 0;
  uint64_t time_ns = 0;    // of no interest here
  uint64_t class_key = 0;  // the nearest to each other in the order: points of one class,
  uint64_t path = 0;       // then of methods that are called alike, the nearest to the allocation in the top bits,
  uint64_t stack_key = 0;  // then of one stack,
  uint64_t thread_key = 0;
};

struct Reduction {
  double tau = 0;            // 0: all kept, weights unchanged; +infinity: none (cap 0)
  std::vector<size_t> kept;  // indices into the input, ascending; size() <= cap
  double WeightOf(double weight) const { return weight > tau ? weight : tau; }
};

// What may be kept: a stretch of a line with marks on it, 1 apart. docs/sampler.md#a-limit-for-the-whole-recording
struct SampleQuota {
  double length = 0;      // what sum min(1, w / tau) is to be, >= 0
  double first_mark = 0;  // where on the stretch the first mark lies: in (0, 1]
  size_t marks = 0;       // how many lie on it, and so are kept: `length` rounded down or up
};

// Precondition: weights > 0 and finite.
Reduction ReduceToQuota(std::span<const BufferedPoint> points, const SampleQuota& quota, uint64_t seed);

// The same with a stretch of its own, `cap` long: exactly `cap` are kept, if there are as many.
Reduction ReduceToCap(std::span<const BufferedPoint> points, size_t cap, uint64_t seed);

}  // namespace heaprec::throttle
