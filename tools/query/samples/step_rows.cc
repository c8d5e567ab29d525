#include "tools/query/samples/step_rows.h"

#include <algorithm>
#include <tuple>

namespace heaprec::tools {

format::Row Scaled(format::Row sums, double factor) {
  const double square = factor * factor;
  sums.bytes *= factor, sums.objects *= factor;
  sums.bytes_variance *= square, sums.objects_variance *= square, sums.covariance *= square;
  sums.bytes_fourth *= square * square, sums.objects_fourth *= square * square;
  return sums;
}

void StepRows::Begin(uint64_t end_ns) {
  Bound();
  if (ends_.empty() || in_step_ == per_step_) {
    ends_.push_back(end_ns);
    in_step_ = 0;
  }
  ends_.back() = std::max(ends_.back(), end_ns);
  ++in_step_;
}

void StepRows::Add(uint32_t class_id, uint32_t node, const format::Row& sums) {
  rows_.push_back({static_cast<uint32_t>(ends_.size()) - 1, class_id, node, sums});
}

void StepRows::Append(const StepRows& other, double factor) {
  const auto before = static_cast<uint32_t>(ends_.size());
  ends_.insert(ends_.end(), other.ends_.begin(), other.ends_.end());
  for (const StepRow& row : other.rows_) {
    rows_.push_back({before + row.step, row.class_id, row.node, Scaled(row.sums, factor)});
  }
  Bound();
}

void StepRows::Close() {
  Unite();
  while (rows_.size() > kMaxRows && ends_.size() > 1) Halve();
}

void StepRows::Unite() {
  const auto key = [](const StepRow& row) { return std::tie(row.step, row.class_id, row.node); };
  std::sort(rows_.begin(), rows_.end(), [&](const auto& one, const auto& other) { return key(one) < key(other); });
  size_t kept = 0;
  for (const StepRow& row : rows_) {
    if (kept > 0 && key(rows_[kept - 1]) == key(row)) {
      rows_[kept - 1].sums += row.sums;
    } else {
      rows_[kept++] = row;
    }
  }
  rows_.resize(kept);
}

// Merges pairs of steps.
void StepRows::Halve() {
  if (ends_.size() % 2 == 0) in_step_ += per_step_;
  per_step_ *= 2;
  for (size_t i = 0; i < ends_.size(); ++i) ends_[i / 2] = ends_[i];
  ends_.resize((ends_.size() + 1) / 2);
  for (StepRow& row : rows_) row.step /= 2;
  Unite();
}

void StepRows::Bound() {
  while (ends_.size() > kMaxSteps) Halve();
  if (rows_.size() <= room_) return;
  Unite();
  while (rows_.size() > kMaxRows && ends_.size() > 1) Halve();
  room_ = std::max(2 * kMaxRows, 2 * rows_.size());
}

}  // namespace heaprec::tools
