#include "tools/analysis/group_table.h"

#include <algorithm>
#include <cstddef>

namespace heaprec::tools {

void GroupTable::Start() {
  counted_.clear();
  subsets_.assign(rows_.size(), Subset(holds_));
}

void GroupTable::Add(Key key, const WeightedSample& drawn) { SubsetOf(key).Add(drawn); }

// Those of a group mostly lie side by side, and the next group's sums nowhere near: they are asked for early.
void GroupTable::Add(std::span<const Key> keys, std::span<const WeightedSample* const> drawn) {
  constexpr size_t kAhead = 6, kCacheLine = 64;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i + kAhead < keys.size() && keys[i + kAhead] != keys[i + kAhead - 1] && keys[i + kAhead] < slots_.size() &&
        slots_[keys[i + kAhead]] != kNone) {
      const auto* const next = reinterpret_cast<const std::byte*>(&subsets_[slots_[keys[i + kAhead]]]);
      for (size_t at = 0; at < sizeof(Subset); at += kCacheLine) __builtin_prefetch(next + at, 1);
    }
    SubsetOf(keys[i]).Add(*drawn[i]);
  }
}

Subset& GroupTable::SubsetOf(Key key) {
  if (key >= slots_.size()) slots_.resize(std::max<size_t>(key + size_t{1}, slots_.size() * 3 / 2), kNone);
  uint32_t& slot = slots_[key];
  if (slot == kNone) {
    slot = static_cast<uint32_t>(rows_.size());
    rows_.push_back({key, unseen_});  // the recordings before had none of it
    subsets_.emplace_back(holds_);
  }
  return subsets_[slot];
}

void GroupTable::Count(Key key, double bytes, double objects) {
  SubsetOf(key);
  counted_.push_back({key, bytes, objects});
}

void GroupTable::Close(const Estimator& estimator) {
  const double whole = estimator.Whole();
  std::vector<GroupEstimates> now;
  for (const Subset& subset : subsets_) now.push_back(EstimateGroup(subset, estimator));
  if (estimator.among_all() && estimator.counted_by_class()) {
    for (const Counted& of : counted_) SetCounted(of.bytes, of.objects, whole, &now[slots_[of.key]]);
  }
  for (size_t slot = 0; slot < rows_.size(); ++slot) {
    rows_[slot].estimates = Sum(rows_[slot].estimates, whole_, now[slot], whole);
  }
  unseen_ = Sum(unseen_, whole_, EstimateGroup(Subset(), estimator), whole);
  whole_ += whole;
  subsets_.clear();
}

const GroupEstimates& GroupTable::Of(Key key) const {
  return key < slots_.size() && slots_[key] != kNone ? rows_[slots_[key]].estimates : unseen_;
}

}  // namespace heaprec::tools
