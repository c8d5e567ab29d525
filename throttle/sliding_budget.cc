#include "throttle/sliding_budget.h"

#include <algorithm>

namespace heaprec::throttle {

SlidingBudget::SlidingBudget(uint64_t interval_ns, double cap, double sliding_cap)
    : interval_ns_(interval_ns), cap_(cap), sliding_cap_(sliding_cap) {}

void SlidingBudget::Add(uint64_t time_ns, double count, double weight) {
  const uint64_t interval = time_ns / interval_ns_, begin = interval * interval_ns_;
  if (interval > interval_) {
    const double in_old = static_cast<double>(begin - last_ns_) / static_cast<double>(time_ns - last_ns_);
    AddToInterval(begin - 1, count * in_old, weight * in_old);
    count *= 1 - in_old;
    weight *= 1 - in_old;
    MoveTo(interval);
  }
  AddToInterval(time_ns, count, weight);
  last_ns_ = time_ns;
}

void SlidingBudget::AddToInterval(uint64_t time_ns, double count, double weight) {
  const uint64_t part = PartOf(time_ns);
  parts_[part].count += count;
  parts_[part].weight += weight;
  usable_ = std::min(usable_ + count, sliding_cap_ - kept_after_[part]);
}

// The second stage keeps points in proportion to their weights, or all of them.
void SlidingBudget::MoveTo(uint64_t interval) {
  Part all;
  for (const Part& part : parts_) all = {all.count + part.count, all.weight + part.weight};
  kept_after_ = {};
  for (uint64_t k = kParts; k-- > 0;) {
    const double kept = all.count > cap_ && all.weight > 0 ? cap_ * parts_[k].weight / all.weight : parts_[k].count;
    kept_after_[k] = kept_after_[k + 1] + (interval == interval_ + 1 ? kept : 0);
  }
  parts_ = {};
  usable_ = 0;
  interval_ = interval;
}

uint64_t SlidingBudget::PartOf(uint64_t time_ns) const {
  return std::min(kParts - 1, time_ns % interval_ns_ / (interval_ns_ / kParts + 1));
}

}  // namespace heaprec::throttle
