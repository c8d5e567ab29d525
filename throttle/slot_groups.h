// How many points each part of an interval may keep, when its prefixes are bounded too: so that all bounds hold, the
// interval is as full as they let it be, and no weight is raised more than it must be.
//
// Among all choices of inclusion probabilities under the bounds the one with the least sum of variances is
// min(1, w / tau) with a tau of its own for each group of neighbouring slots, never rising from group to group.
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

// room[j]: the most that slots 0..j may keep; never falls with j. One group that ends with room.size() where the last
// room alone matters. A group's bounds on its own prefixes hold in expectation.
std::vector<SlotGroup> GroupSlots(std::span<const SlotWeight> points, std::span<const size_t> room);

}  // namespace heaprec::throttle
