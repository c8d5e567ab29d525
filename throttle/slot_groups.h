// How many points each part of an interval may keep if its prefixes are bounded, too: all bounds hold, the interval
// keeps as many points as they allow, and no weight is raised more than necessary.
//
// Among all inclusion probabilities that satisfy the bounds, the sum of variances is minimal for min(1, w / tau) with
// one tau per group of neighbouring slots, which never increases from group to group.
//
// Context:  drain, and a salvager (it allocates).
// Maths:    docs/sampler.md#second-stage
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace heaprec::throttle {

struct SlotWeight {
  size_t slot = 0;
  double weight = 0;  // > 0
};

struct SlotGroup {
  size_t end = 0;  // past its last slot
  size_t cap = 0;  // points it may keep
};

// room[j]: the maximum that slots 0..j may keep; it never decreases with j. Returns one group that ends at room.size()
// if only the last bound matters. The bounds on prefixes within a group hold in expectation.
std::vector<SlotGroup> GroupSlots(std::span<const SlotWeight> points, std::span<const size_t> room);

}  // namespace heaprec::throttle
