#include "tools/analysis/estimate/weighted_sample.h"

#include <algorithm>

namespace heaprec::tools {
namespace {

// Sums of the same samples in a different order may differ by rounding.
constexpr double kRounding = 1e-9;

// The terms that one sample or row adds to the variance.
struct Terms {
  Spread variance;
  double seen, bytes_fourth, objects_fourth;
};

// y / p times z / p times 1 - p; p is s / w before a census scaled w.
Terms TermsOf(const WeightedSample& sample) {
  const double w = sample.weight, o = sample.objects;
  const double factor = sample.of_class != nullptr ? sample.of_class->factor : 1;
  const double exclusion = w > 0 ? std::max(1 - factor * sample.size / w, 0.0) : 0;
  const Spread variance = exclusion * Spread{w * w, o * o, w * o};
  return {variance, sample.size, variance.bytes * variance.bytes, variance.objects * variance.objects};
}

// A census may also have scaled the row.
Terms TermsOfRow(const WeightedSample& sample) {
  const format::Row& row = *sample.row;
  const double factor = sample.weight / row.bytes, square = factor * factor;
  const Spread variance = square * Spread{row.bytes_variance, row.objects_variance, row.covariance};
  return {variance, static_cast<double>(row.seen), square * square * row.bytes_fourth,
          square * square * row.objects_fourth};
}

}  // namespace

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

void Subset::Add(const WeightedSample& sample) {
  class_ = samples_ == 0 || class_ == sample.of_class ? sample.of_class : nullptr;
  samples_ += sample.points();
  bytes_ += sample.weight;
  objects_ += sample.objects;
  if (!(sample.objects > 0)) ++unsized_;
  const Terms terms = sample.row != nullptr ? TermsOfRow(sample) : TermsOf(sample);
  seen_ += terms.seen;
  variance_ += terms.variance;
  bytes_fourth_ += terms.bytes_fourth;
  objects_fourth_ += terms.objects_fourth;
}

Subset& Subset::operator+=(const Subset& other) {
  class_ = samples_ == 0 || class_ == other.class_ ? other.class_ : nullptr;
  samples_ += other.samples_;
  unsized_ += other.unsized_;
  bytes_ += other.bytes_;
  objects_ += other.objects_;
  seen_ += other.seen_;
  variance_ += other.variance_;
  bytes_fourth_ += other.bytes_fourth_;
  objects_fourth_ += other.objects_fourth_;
  return *this;
}

Subset Scaled(const Subset& of, double bytes, double objects) {
  const double bytes2 = bytes * bytes, objects2 = objects * objects;
  Subset scaled = of;
  scaled.bytes_ *= bytes;
  scaled.objects_ *= objects;
  scaled.variance_ = {of.variance_.bytes * bytes2, of.variance_.objects * objects2,
                      of.variance_.both * bytes * objects};
  scaled.bytes_fourth_ *= bytes2 * bytes2;
  scaled.objects_fourth_ *= objects2 * objects2;
  return scaled;
}

// Not if a filter left out some of its samples.
const CountedClass* Subset::counted() const {
  const bool is_whole = is_class_ && class_ != nullptr && class_->is_one && bytes_ >= class_->scaled * (1 - kRounding);
  return is_whole ? class_ : nullptr;
}

}  // namespace heaprec::tools
