// Keeps at most `capacity` weighted items while items are added and removed, so that the kept ones estimate all of
// them: priority sampling with evictions.
//
// An item of weight w has the priority w / u, where u in (0, 1) depends on (seed, id). If there are more than
// `capacity`, the one with the lowest priority is evicted; its priority is the threshold that all others exceed. An
// item that is kept at time t represents max(w, T), where T is the highest threshold since it was added. This is
// unbiased for any additions and removals that do not depend on priorities.
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

  // Adds an item; there may be more than `capacity` until EvictExcess. `id` is new; weight > 0 and finite.
  void Add(uint64_t id, double weight);
  // Removes an item that no longer exists (its object died). Returns false if it is not kept.
  bool Remove(uint64_t id);

  struct Evicted {
    uint64_t id;
    double threshold;
  };
  // Evicts items beyond the capacity, the lowest threshold first.
  std::vector<Evicted> EvictExcess();

  size_t size() const { return priorities_.size(); }

 private:
  const size_t capacity_;
  const uint64_t seed_;
  std::set<std::pair<double, uint64_t>> by_priority_;  // pairs of priority and id
  std::unordered_map<uint64_t, double> priorities_;
};

}  // namespace heaprec::throttle
