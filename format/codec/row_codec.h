// Rows under construction, and rows as columns. All fields of a row with one point follow from its size and weight, so
// such a row needs three or four bytes. Sums of weights are rounded: bytes and objects by at most 0.07 %, variances and
// higher moments by a few percent.
//
// Units:    as model.h.
// Context:  encoding: drain (it allocates).
// Failure:  decoding returns false for invalid bytes, and sets *refused if a critical column is unknown.
// Format:   docs/format/recording.md#rows
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/bytes/layout.h"
#include "format/codec/dictionaries.h"
#include "format/codec/index_table.h"
#include "format/model/model.h"

namespace heaprec::format {

// Appends the section, unless there are no rows. `rows`: by stack, then by class (RowTable::Take). section: kRows or
// kOutside.
void EncodeRows(Section section, std::span<const Row> rows, ByteBuffer* raw);
// `dictionaries`: those of the chunk up to this section.
bool DecodeRows(Bytes body, const Dictionaries& dictionaries, std::vector<Row>* rows, bool* refused);

// Rows under construction: one for each class and path.
//
// Context:  drain (it allocates).
// Threads:  one.

class RowTable {
 public:
  // Adds a point of an object. Rings may contain invalid values: corrects the size to at least 1 and the weight to at
  // least the size.
  void Add(Index class_id, Index stack, uint64_t size, double weight) {
    size = std::max<uint64_t>(size, 1);
    Row row{.class_id = class_id, .stack = stack};
    row.Add(size, std::max(weight, static_cast<double>(size)));
    Add(row);
  }
  // Adds objects that were counted: their row has no sampling error.
  void AddCounted(Index class_id, uint64_t objects, uint64_t bytes) {
    Add(Row{.class_id = class_id,
            .points = objects,
            .seen = bytes,
            .bytes = static_cast<double>(bytes),
            .objects = static_cast<double>(objects)});
  }
  void Add(const Row& row) {
    const auto is_same = [&](Index i) { return rows_[i].stack == row.stack && rows_[i].class_id == row.class_id; };
    const Index index = table_.FindOrAdd(
        HashOf(row), is_same, rows_.size(), [&] { rows_.push_back({.class_id = row.class_id, .stack = row.stack}); },
        [this](Index i) { return HashOf(rows_[i]); });
    rows_[index] += row;
  }

  bool empty() const { return rows_.empty(); }
  size_t size() const { return rows_.size(); }
  // In the order of insertion.
  const std::vector<Row>& rows() const { return rows_; }
  // Returns the rows in the order of a block: by stack, then by class, with "none" first. The table is empty
  // afterwards.
  std::vector<Row> Take() {
    std::vector<Row> rows = std::exchange(rows_, {});
    table_ = {};
    std::ranges::sort(rows, {},
                      [](const Row& row) { return std::pair<Index, Index>(row.stack + 1, row.class_id + 1); });
    return rows;
  }

 private:
  static uint64_t HashOf(const Row& row) { return MixWord(uint64_t{row.stack} << 32 | row.class_id); }

  std::vector<Row> rows_;
  IndexTable table_;
};

}  // namespace heaprec::format
