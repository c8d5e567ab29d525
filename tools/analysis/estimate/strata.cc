#include "tools/analysis/estimate/strata.h"

namespace heaprec::tools {

namespace {

// Weight and objects, but none of the chances.
void ScaleTo(const ClassOfStratum& of, WeightedSample* one) {
  const double factor = of.stratum->factor;
  one->of_class = &of;
  one->weight *= factor;
  one->first_weight *= factor;
  one->objects *= factor;
}

}  // namespace

void Strata::Scale(const format::Block& block, std::span<WeightedSample> drawn) {
  if (table_ == nullptr) return;
  dictionaries_ = block.dictionaries;
  if (block.chunk != chunk_ || dictionaries_->classes.size() < of_index_.size()) of_index_.clear();
  chunk_ = block.chunk;
  for (WeightedSample& one : drawn) {
    if (const ClassOfStratum* const found = Of(one.class_id)) ScaleTo(*found, &one);
  }
}

const ClassOfStratum* Strata::Of(format::Index class_id) {
  if (class_id >= dictionaries_->classes.size()) return nullptr;
  if (class_id >= of_index_.size()) of_index_.resize(dictionaries_->classes.size());
  Looked& looked = of_index_[class_id];
  if (!looked.done) looked = {true, Find(dictionaries_->classes[class_id])};
  return looked.found;
}

const ClassOfStratum* Strata::Find(const std::string& class_name) const {
  const auto known = table_->of_class.find(class_name);
  return known != table_->of_class.end() ? &known->second : nullptr;
}

}  // namespace heaprec::tools
