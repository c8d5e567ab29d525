#include "tools/export/labelled_totals.h"

#include <xxhash.h>

namespace heaprec::tools {

size_t LabelledTotals::KeyHash::operator()(const Key& key) const {
  static_assert(sizeof(Key) == 24, "no padding, which would be hashed");
  return XXH3_64bits(&key, sizeof(key));
}

void LabelledTotals::Add(const format::Sample& sample, Catalogue* catalogue) {
  Key key{catalogue->StackOf(sample.stack), catalogue->ClassOf(sample.class_id), catalogue->ThreadOf(sample.thread),
          static_cast<uint32_t>(sample.kind), with_size_ ? sample.size : 0};
  if (key.stack == Catalogue::kNone) key.stack = catalogue->UnknownStack();
  const auto [at, is_new] = known_.try_emplace(key, rows_.size());
  if (is_new) rows_.push_back({key, {}});
  rows_[at->second].totals.Add(sample);
}

void LabelledTotals::Clear() {
  rows_.clear();
  known_.clear();
}

}  // namespace heaprec::tools
