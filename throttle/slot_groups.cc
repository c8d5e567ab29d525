#include "throttle/slot_groups.h"

#include <algorithm>
#include <limits>

namespace heaprec::throttle {
namespace {

// tau solves sum min(1, w / tau) = cap; 0 if all may be kept. Approaches it from above in a few steps: weights above
// the current tau are certain, and the rest share what these leave of cap.
double TauFor(std::span<const double> weights, size_t cap) {
  if (weights.size() <= cap) return 0;
  if (cap == 0) return std::numeric_limits<double>::infinity();
  for (double tau = 0;;) {
    double rest = 0;
    size_t certain = 0;
    for (const double w : weights) {
      if (tau > 0 && w >= tau) {
        ++certain;
      } else {
        rest += w;
      }
    }
    // Rounding may make one point too many certain.
    const double next = certain < cap ? rest / static_cast<double>(cap - certain) : tau;
    if (!(tau == 0 || next < tau * (1 - 1e-12))) return tau;
    tau = next;
  }
}

using Slots = std::vector<std::vector<double>>;  // weights, by slot

// Nearly always true: from slot `from` on, one tau for all satisfies every prefix.
bool OneIsEnough(const Slots& slots, size_t from, double tau, size_t used, std::span<const size_t> room) {
  double expected = static_cast<double>(used);
  for (size_t j = from; j < slots.size(); ++j) {
    for (const double w : slots[j]) expected += std::min(1.0, w / tau);
    if (expected > static_cast<double>(room[j]) * (1 + 1e-9)) return false;
  }
  return true;
}

// The prefix that needs the highest tau gets it; all shorter prefixes are then satisfied, too.
SlotGroup Tightest(const Slots& slots, size_t from, size_t used, std::span<const size_t> room) {
  const auto cap = [&](size_t j) { return room[j] - std::min(used, room[j]); };
  std::vector<double> weights;
  for (size_t j = from; j < slots.size(); ++j) weights.insert(weights.end(), slots[j].begin(), slots[j].end());
  const size_t last = slots.size() - 1;
  const double tau = TauFor(weights, cap(last));
  if (OneIsEnough(slots, from, tau, used, room)) return {last + 1, std::min(cap(last), weights.size())};
  SlotGroup tightest;
  double highest = -1;
  weights.clear();
  for (size_t j = from; j < slots.size(); ++j) {
    weights.insert(weights.end(), slots[j].begin(), slots[j].end());
    const double needed = TauFor(weights, cap(j));
    if (needed < highest) continue;
    highest = needed;
    tightest = {j + 1, std::min(cap(j), weights.size())};
  }
  return tightest;
}

}  // namespace

std::vector<SlotGroup> GroupSlots(std::span<const SlotWeight> points, std::span<const size_t> room) {
  Slots slots(room.size());
  for (const SlotWeight& point : points) slots[point.slot].push_back(point.weight);
  std::vector<SlotGroup> groups;
  size_t used = 0;
  for (size_t from = 0; from < room.size(); from = groups.back().end) {
    groups.push_back(Tightest(slots, from, used, room));
    used += groups.back().cap;
  }
  return groups;
}

}  // namespace heaprec::throttle
