#include "tools/analysis/progress_blocks.h"

#include <algorithm>
#include <cmath>

namespace heaprec::tools {

void ProgressBlocks::Halve(Slots* slots) {
  for (size_t i = 0; i < kSlots / 2; ++i) (*slots)[i] = (*slots)[2 * i] + (*slots)[2 * i + 1];
  std::fill(slots->begin() + kSlots / 2, slots->end(), 0.0F);
}

void ProgressBlocks::Add(uint32_t key, uint64_t time_ns, double weight) {
  while (time_ns / slot_ns_ >= kSlots) {
    slot_ns_ *= 2;
    Halve(&all_);
    for (auto& [of, slots] : groups_) Halve(&slots);
  }
  const size_t slot = time_ns / slot_ns_;
  all_[slot] += static_cast<float>(weight);
  groups_[key][slot] += static_cast<float>(weight);
}

// Each slot belongs to the blocks that its part of all that was allocated covers.
ProgressBlocks::Blocks ProgressBlocks::Of(uint32_t key) const {
  Blocks blocks{};
  const auto group = groups_.find(key);
  double all = 0, own = 0;
  for (size_t slot = 0; slot < kSlots; ++slot) all += all_[slot];
  if (group == groups_.end() || !(all > 0)) return blocks;
  for (const float weight : group->second) own += weight;
  if (!(own > 0)) return blocks;
  double before = 0;
  for (size_t slot = 0; slot < kSlots; ++slot) {
    if (!(all_[slot] > 0)) continue;
    const double from = before / all * kBlocks, to = (before + all_[slot]) / all * kBlocks;
    before += all_[slot];
    for (auto block = static_cast<size_t>(from); block < kBlocks && static_cast<double>(block) < to; ++block) {
      const double low = std::max(from, static_cast<double>(block)),
                   high = std::min(to, static_cast<double>(block + 1));
      blocks[block] += std::max(high - low, 0.0) / (to - from) * group->second[slot] * kBlocks / own;
    }
  }
  const auto slots = static_cast<size_t>(std::ranges::count_if(all_, [](float weight) { return weight > 0; }));
  const double lacking =
      slots > 1 && slots < kBlocks ? std::sqrt((kBlocks - 1.0) / (static_cast<double>(slots) - 1)) : 1;
  for (double& block : blocks) block = 1 + (block - 1) * lacking;
  return blocks;
}

}  // namespace heaprec::tools
