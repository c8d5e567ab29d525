// What the samples of each stack, class, thread, kind and size add up to: what profiles with labels have as samples.
//
// Memory:   bounded: whoever uses it takes the rows out when it is full(); the same key may then come again.
#pragma once

#include <cstdint>
#include <vector>

#include "format/codec/index_table.h"
#include "tools/analysis/live/lifetimes.h"
#include "tools/export/chunk_index.h"
#include "tools/export/totals.h"

namespace heaprec::tools {

class LabelledTotals {
 public:
  struct Key {
    Catalogue::Id stack = 0, class_id = 0, thread = 0;
    uint32_t kind = 0;
    uint64_t size = 0;  // of the object
    bool operator==(const Key&) const = default;
  };
  struct Row {
    Key key;
    Totals totals;
  };

  // `with_size`: whether sizes are told apart.
  explicit LabelledTotals(bool with_size) : with_size_(with_size) {}

  Key KeyOf(const format::Sample& sample, Catalogue* catalogue) const;
  // Of the row of that key.
  Totals& At(const Key& key);
  void Add(const format::Sample& sample, const Calibration::Weight& weight, Catalogue* catalogue) {
    At(KeyOf(sample, catalogue)).Add(sample, weight);
  }
  // What `life` stands for, if it is tracked at the time.
  void AddAlive(const Lifetimes& lives, const Lifetime& life, uint64_t at_ns, const Key& key);
  bool full() const { return rows_.size() >= kMaxRows; }
  // In the order in which they were first seen.
  const std::vector<Row>& rows() const { return rows_; }
  void Clear();

 private:
  static constexpr size_t kMaxRows = 1 << 18;
  const bool with_size_;
  std::vector<Row> rows_;
  format::IndexTable known_;  // rows_ by key
};

}  // namespace heaprec::tools
