#include "throttle/priority_reservoir.h"

#include "throttle/random.h"

namespace heaprec::throttle {

void PriorityReservoir::Add(uint64_t id, double weight) {
  // Inside (0, 1): a double represents 52 bits plus a half exactly.
  const double u = (static_cast<double>(Mix64(seed_ ^ Mix64(id)) >> 12) + 0.5) * 0x1p-52;
  const double priority = weight / u;
  if (priorities_.emplace(id, priority).second) by_priority_.emplace(priority, id);
}

bool PriorityReservoir::Remove(uint64_t id) {
  const auto known = priorities_.find(id);
  if (known == priorities_.end()) return false;
  by_priority_.erase({known->second, id});
  priorities_.erase(known);
  return true;
}

std::vector<PriorityReservoir::Evicted> PriorityReservoir::EvictExcess() {
  std::vector<Evicted> released;
  while (priorities_.size() > capacity_) {
    const auto [threshold, id] = *by_priority_.begin();
    by_priority_.erase(by_priority_.begin());
    priorities_.erase(id);
    released.push_back({id, threshold});
  }
  return released;
}

}  // namespace heaprec::throttle
