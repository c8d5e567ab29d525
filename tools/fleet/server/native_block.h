// ClickHouse's Native format: columns of a block, as bytes. https://clickhouse.com/docs/interfaces/formats#native
//
// With this format alone ClickHouse refuses a truncated insert. With TSV or RowBinary it keeps the rows that arrived.
//
// Failure:  Decode returns what is wrong; lengths are checked before memory is taken.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/bytes/result.h"

namespace heaprec::tools::fleet {

// A column to be inserted. The functions must fit its type; all columns of a block have as many rows.
class ColumnWriter {
 public:
  ColumnWriter(std::string name, std::string type) : name_(std::move(name)), type_(std::move(type)) {}

  void AddU8(uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void AddU32(uint32_t value) { AddRaw(&value, sizeof value); }  // DateTime, too
  void AddU64(uint64_t value) { AddRaw(&value, sizeof value); }
  void AddF32(float value) { AddRaw(&value, sizeof value); }
  void AddF64(double value) { AddRaw(&value, sizeof value); }
  void AddText(std::string_view text);
  void AddArray(const std::vector<uint64_t>& values);
  void AddArray(const std::vector<std::string>& texts);

  const std::string& name() const { return name_; }
  void AppendTo(std::string* into) const;

 private:
  void AddRaw(const void* from, size_t size) { bytes_.append(static_cast<const char*>(from), size); }

  std::string name_, type_;
  std::string offsets_;  // of arrays
  uint64_t last_offset_ = 0;
  std::string bytes_;
};

class NativeBlock {
 public:
  explicit NativeBlock(std::vector<ColumnWriter> columns) : columns_(std::move(columns)) {}
  ColumnWriter& operator[](size_t column) { return columns_[column]; }
  void EndRow() { ++rows_; }
  uint64_t rows() const { return rows_; }
  // "time, recording, ...": what an INSERT names.
  std::string Names() const;
  std::string Encode() const;

 private:
  std::vector<ColumnWriter> columns_;
  uint64_t rows_ = 0;
};

// A column of an answer: whole numbers, dates and times in `numbers`, floats in `reals`, the rest in `texts`.
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

  // By name, because servers may order columns otherwise; nullptr: there is none.
  const AnswerColumn* Column(std::string_view name) const;
  // Returns a value of a row; 0 or empty if there is no such column or it has another type.
  uint64_t Number(std::string_view name, size_t row) const;
  double Real(std::string_view name, size_t row) const;
  std::string Text(std::string_view name, size_t row) const;
};

// All blocks of an answer as one. An answer without rows may have no columns.
format::Result<Answer> DecodeNative(std::string_view bytes);

}  // namespace heaprec::tools::fleet
