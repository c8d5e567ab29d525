#include "tools/analysis/group_table.h"

#include <algorithm>

namespace heaprec::tools {

void GroupTable::Start(std::optional<Grain> chosen_by) {
  grain_now_ = chosen_by ? std::max(grain_, *chosen_by) : grain_;
  subsets_.assign(rows_.size(), Subset(grain_now_));
}

void GroupTable::Add(Key key, const Drawn& drawn) {
  if (key >= slots_.size()) slots_.resize(std::max<size_t>(key + size_t{1}, slots_.size() * 3 / 2), kNone);
  uint32_t& slot = slots_[key];
  if (slot == kNone) {
    slot = static_cast<uint32_t>(rows_.size());
    rows_.push_back({key, unseen_});  // the recordings before had none of it
    subsets_.emplace_back(grain_now_);
  }
  subsets_[slot].Add(drawn);
}

void GroupTable::Close(const Estimator& estimator) {
  const double whole = estimator.Whole();
  for (size_t slot = 0; slot < rows_.size(); ++slot) {
    rows_[slot].figures = Sum(rows_[slot].figures, whole_, FiguresOf(subsets_[slot], estimator), whole);
  }
  unseen_ = Sum(unseen_, whole_, FiguresOf(Subset(grain_now_), estimator), whole);
  whole_ += whole;
  subsets_.clear();
}

const Figures& GroupTable::Of(Key key) const {
  return key < slots_.size() && slots_[key] != kNone ? rows_[slots_[key]].figures : unseen_;
}

}  // namespace heaprec::tools
