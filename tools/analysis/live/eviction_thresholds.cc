#include "tools/analysis/live/eviction_thresholds.h"

#include <algorithm>

namespace heaprec::tools {

void EvictionThresholds::Close() {
  std::stable_sort(releases_.begin(), releases_.end(),
                   [](const auto& one, const auto& other) { return one.first < other.first; });
  const size_t count = releases_.size();
  highest_.assign(2 * count, 0);
  for (size_t i = 0; i < count; ++i) highest_[count + i] = releases_[i].second;
  for (size_t i = count; i-- > 1;) highest_[i] = std::max(highest_[2 * i], highest_[2 * i + 1]);
}

double EvictionThresholds::Highest(uint64_t from_ns, uint64_t to_ns) const {
  const auto begins = [](const auto& release, uint64_t time_ns) { return release.first < time_ns; };
  const auto ends = [](uint64_t time_ns, const auto& release) { return time_ns < release.first; };
  const auto first = std::lower_bound(releases_.begin(), releases_.end(), from_ns, begins);
  const auto last = std::upper_bound(first, releases_.end(), to_ns, ends);
  double highest = 0;
  auto low = static_cast<size_t>(first - releases_.begin()) + releases_.size();
  auto high = static_cast<size_t>(last - releases_.begin()) + releases_.size();
  for (; low < high; low /= 2, high /= 2) {
    if (low % 2 == 1) highest = std::max(highest, highest_[low++]);
    if (high % 2 == 1) highest = std::max(highest, highest_[--high]);
  }
  return highest;
}

}  // namespace heaprec::tools
