#include "tools/export/totals.h"

#include <xxhash.h>

namespace heaprec::tools {
namespace {

uint64_t HashOf(const LabelledTotals::Key& key) {
  static_assert(sizeof(key) == 24, "no padding, which would be hashed");
  return XXH3_64bits(&key, sizeof(key));
}

}  // namespace

void StackTotals::Add(const FilteredBlock& block) {
  catalogue_.Enter(block.block, &block.names);
  for (const format::Sample* const sample : block.samples) {
    At(catalogue_.StackOf(sample->stack)).Add(*sample, block.calibration.WeightOf(*sample));
  }
  for (const format::Row* const row : block.rows) {
    At(catalogue_.StackOfRow(row->stack)).Add(block.calibration.WeightOf(*row));
  }
}

Totals& StackTotals::At(Catalogue::Id stack) {
  if (stack == Catalogue::kNone) stack = catalogue_.UnknownStack();
  if (stack >= of_.size()) of_.resize(catalogue_.stacks().size());
  return of_[stack];
}

LabelledTotals::Key LabelledTotals::KeyOf(const format::Sample& sample, Catalogue* catalogue) const {
  Key key{catalogue->StackOf(sample.stack), catalogue->ClassOf(sample.class_id), catalogue->ThreadOf(sample.thread),
          static_cast<uint32_t>(sample.kind), with_size_ ? sample.size : 0};
  if (key.stack == Catalogue::kNone) key.stack = catalogue->UnknownStack();
  return key;
}

Totals& LabelledTotals::At(const Key& key) {
  const format::Index row = known_.FindOrAdd(
      HashOf(key), [&](format::Index of) { return rows_[of].key == key; }, rows_.size(),
      [&] {
        rows_.push_back({key, {}});
      },
      [this](format::Index of) { return HashOf(rows_[of].key); });
  return rows_[row].totals;
}

void LabelledTotals::AddAlive(const Lifetimes& lives, const Lifetime& life, uint64_t at_ns, uint64_t survived,
                              const Key& key) {
  if (!lives.IsLiveAt(life, at_ns, survived)) return;
  const double weight = lives.WeightAt(life, at_ns);
  Totals& totals = At(key);
  totals.live_bytes += weight;
  if (life.size > 0) totals.live_objects += weight / static_cast<double>(life.size);
}

void LabelledTotals::Clear() {
  rows_.clear();
  known_ = {};
}

}  // namespace heaprec::tools
