// Keeps at most `capacity` of weighted items that come and go, so that those that are kept estimate all that are there:
// priority sampling with releases.
//
// An item of weight w has the priority w / u, u in (0, 1) from (seed, id). When there are more than `capacity`, the one
// of the lowest priority is released, and its priority is the threshold that all others were above. An item that is
// there at t stands for max(w, T), T the highest threshold since it came: unbiased, whatever comes and goes for reasons
// of its own.
//
// Units:    weights in bytes.
// Context:  drain (it allocates).   Maths: docs/streams.md#live-objects
// Source:   Duffield, Lund, Thorup, "Priority sampling for estimation of arbitrary subset sums", J. ACM 54(6), 2007.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heaprec::throttle {

class PriorityReservoir {
 public:
  // capacity > 0.
  PriorityReservoir(size_t capacity, uint64_t seed) : capacity_(capacity), seed_(seed) {}

  // More than `capacity` may be there until EvictExcess. `id` is new; weight > 0 and finite.
  void Add(uint64_t id, double weight);
  // It has gone for a reason of its own. False: it was not there.
  bool Remove(uint64_t id);

  struct Evicted {
    uint64_t id;
    double threshold;
  };
  // Releases those that are too many, the lowest threshold first.
  std::vector<Evicted> EvictExcess();

  size_t size() const { return priorities_.size(); }

 private:
  const size_t capacity_;
  const uint64_t seed_;
  std::set<std::pair<double, uint64_t>> by_priority_;  // and id
  std::unordered_map<uint64_t, double> priorities_;
};

}  // namespace heaprec::throttle
