// ClickHouse's Native format: the columns of a block as bytes. https://clickhouse.com/docs/interfaces/formats#native
//
// Only with this format ClickHouse rejects a truncated insert. With TSV or RowBinary it stores the rows that arrived.
//
// Failure:  Decode returns the reason; lengths are checked before memory is allocated.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"

namespace heaprec::tools::fleet {

// Rows to insert.
class NativeBlock {
 public:
  // `columns`: names and types, "time DateTime, recording UInt64". Types without spaces.
  explicit NativeBlock(std::string_view columns);

  // Appends to the columns of the current row, from the first one on; each value must be of its column's type.
  template <typename... Values>
  void Add(const Values&... values) {
    (columns_[next_++].Add(values), ...);
  }
  void EndRow() {
    ++rows_;
    next_ = 0;
  }
  template <typename... Values>
  void AddRow(const Values&... values) {
    Add(values...);
    EndRow();
  }
  uint64_t rows() const { return rows_; }
  // Returns "time, recording, ...": the column list of an INSERT.
  std::string Names() const;
  std::string Encode() const;

 private:
  struct Column {
    std::string name, type;
    std::string offsets{};  // of arrays
    uint64_t last_offset = 0;
    std::string bytes{};

    // Integers (UInt32 is also DateTime), floats, and enumerations as their underlying integers.
    template <typename Number>
    requires(std::is_arithmetic_v<Number> || std::is_enum_v<Number>) void Add(Number number) {
      bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
    }
    void Add(std::string_view text);
    template <typename Element>
    void Add(const std::vector<Element>& array) {
      last_offset += array.size();
      offsets.append(reinterpret_cast<const char*>(&last_offset), sizeof last_offset);
      for (const Element& element : array) Add(element);
    }
  };

  std::vector<Column> columns_;
  size_t next_ = 0;
  uint64_t rows_ = 0;
};

// A column of an answer: integers, dates and times in `numbers`, floats in `reals`, other types in `texts`.
struct AnswerColumn {
  std::string name, type;
  std::vector<uint64_t> numbers;
  std::vector<double> reals;
  std::vector<std::string> texts;
  std::vector<std::vector<uint64_t>> arrays;
};

struct Answer {
  std::vector<AnswerColumn> columns;
  uint64_t rows = 0;

  // Finds a column by name, because servers may use another order; nullptr: none.
  const AnswerColumn* Column(std::string_view name) const;
  // Returns a value of a row; 0 or empty if there is no such column or it has another type.
  uint64_t Number(std::string_view name, size_t row) const;
  double Real(std::string_view name, size_t row) const;
  std::string Text(std::string_view name, size_t row) const;
};

// Decodes all blocks of an answer into one. An answer without rows may have no columns.
Result<Answer> DecodeNative(std::string_view bytes);

}  // namespace heaprec::tools::fleet
