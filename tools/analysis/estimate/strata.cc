#include "tools/analysis/estimate/strata.h"

namespace heaprec::tools {

void Strata::Scale(const format::Block& block, std::span<WeightedSample> drawn) {
  if (table_ == nullptr) return;
  dictionaries_ = block.dictionaries;
  if (block.chunk != chunk_ || dictionaries_->classes.size() < of_index_.size()) of_index_.clear();
  chunk_ = block.chunk;
  for (WeightedSample& one : drawn) {
    one.of_class = Of(one.class_id);
    if (one.of_class == nullptr) continue;
    one.weight *= one.of_class->factor;
    one.objects *= one.of_class->factor;
  }
}

const CountedClass* Strata::Of(format::Index class_id) {
  if (class_id >= dictionaries_->classes.size()) return nullptr;
  if (class_id >= of_index_.size()) of_index_.resize(dictionaries_->classes.size());
  Looked& looked = of_index_[class_id];
  if (looked.done) return looked.found;
  const auto known = table_->classes.find(dictionaries_->classes[class_id]);
  looked = {true, known != table_->classes.end() ? &known->second : nullptr};
  return looked.found;
}

}  // namespace heaprec::tools
