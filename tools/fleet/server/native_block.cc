#include "tools/fleet/server/native_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace heaprec::tools::fleet {
namespace {

// Our queries have fewer; an invalid answer could otherwise cause large allocations.
constexpr uint64_t kMaxColumns = 1000;

void AppendVarint(uint64_t value, std::string* into) {
  for (; value >= 0x80; value >>= 7) into->push_back(static_cast<char>(value | 0x80));
  into->push_back(static_cast<char>(value));
}

void AppendText(std::string_view text, std::string* into) {
  AppendVarint(text.size(), into);
  *into += text;
}

// Reads with checked lengths; after an error it returns zeros.
class Input {
 public:
  explicit Input(std::string_view bytes) : left_(bytes) {}
  bool ok() const { return ok_; }
  void Fail() { ok_ = false; }
  bool at_end() const { return left_.empty(); }

  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (left_.empty()) break;
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }
  std::string_view Take(uint64_t size) {
    if (!ok_ || size > left_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  std::string_view Text() { return Take(Varint()); }

  template <typename Stored, typename Value>
  void Numbers(uint64_t rows, std::vector<Value>* into) {
    if (rows > left_.size() / sizeof(Stored)) {
      ok_ = false;
      return;
    }
    const std::string_view bytes = Take(rows * sizeof(Stored));
    for (uint64_t i = 0; i < rows; ++i) {
      Stored one;
      std::memcpy(&one, bytes.data() + i * sizeof one, sizeof one);
      into->push_back(static_cast<Value>(one));
    }
  }

 private:
  std::string_view left_;
  bool ok_ = true;
};

void ReadTexts(uint64_t rows, Input* input, std::vector<std::string>* into) {
  for (uint64_t i = 0; i < rows && input->ok(); ++i) into->emplace_back(input->Text());
}

void ReadArrays(uint64_t rows, Input* input, std::vector<std::vector<uint64_t>>* into) {
  std::vector<uint64_t> ends, all;
  input->Numbers<uint64_t>(rows, &ends);
  if (!input->ok()) return;
  input->Numbers<uint64_t>(ends.empty() ? 0 : ends.back(), &all);
  uint64_t begin = 0;
  for (const uint64_t end : ends) {
    if (end < begin || end > all.size()) {
      input->Fail();
      return;
    }
    into->emplace_back(all.begin() + static_cast<std::ptrdiff_t>(begin),
                       all.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
  }
}

// Returns false for a type that our queries do not use.
bool ReadColumn(uint64_t rows, Input* input, AnswerColumn* column) {
  const std::string& type = column->type;
  if (type == "UInt8") {
    input->Numbers<uint8_t>(rows, &column->numbers);
  } else if (type == "UInt16" || type == "Date") {
    input->Numbers<uint16_t>(rows, &column->numbers);
  } else if (type == "UInt32" || type.starts_with("DateTime")) {
    input->Numbers<uint32_t>(rows, &column->numbers);
  } else if (type == "UInt64") {
    input->Numbers<uint64_t>(rows, &column->numbers);
  } else if (type == "Float32") {
    input->Numbers<float>(rows, &column->reals);
  } else if (type == "Float64") {
    input->Numbers<double>(rows, &column->reals);
  } else if (type == "String") {
    ReadTexts(rows, input, &column->texts);
  } else if (type == "Array(UInt64)") {
    ReadArrays(rows, input, &column->arrays);
  } else {
    return false;
  }
  return true;
}

}  // namespace

NativeBlock::NativeBlock(std::string_view columns) {
  while (!columns.empty()) {
    const std::string_view column = columns.substr(0, columns.find(", "));
    columns.remove_prefix(std::min(column.size() + 2, columns.size()));
    const size_t space = column.find(' ');
    columns_.push_back({std::string(column.substr(0, space)), std::string(column.substr(space + 1))});
  }
}

void NativeBlock::Column::Add(std::string_view text) { AppendText(text, &bytes); }

std::string NativeBlock::Names() const {
  std::string names;
  for (const Column& column : columns_) names += (names.empty() ? "" : ", ") + column.name;
  return names;
}

std::string NativeBlock::Encode() const {
  std::string bytes;
  AppendVarint(columns_.size(), &bytes);
  AppendVarint(rows_, &bytes);
  for (const Column& column : columns_) {
    AppendText(column.name, &bytes);
    AppendText(column.type, &bytes);
    bytes += column.offsets + column.bytes;
  }
  return bytes;
}

const AnswerColumn* Answer::Column(std::string_view name) const {
  for (const AnswerColumn& column : columns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

uint64_t Answer::Number(std::string_view name, size_t row) const {
  const AnswerColumn* column = Column(name);
  return column != nullptr && row < column->numbers.size() ? column->numbers[row] : 0;
}

double Answer::Real(std::string_view name, size_t row) const {
  const AnswerColumn* column = Column(name);
  if (column == nullptr) return 0;
  if (row < column->reals.size()) return column->reals[row];
  return row < column->numbers.size() ? static_cast<double>(column->numbers[row]) : 0;
}

std::string Answer::Text(std::string_view name, size_t row) const {
  const AnswerColumn* column = Column(name);
  return column != nullptr && row < column->texts.size() ? column->texts[row] : "";
}

Result<Answer> DecodeNative(std::string_view bytes) {
  Answer answer;
  Input input(bytes);
  while (!input.at_end()) {
    const uint64_t columns = input.Varint(), rows = input.Varint();
    if (!input.ok() || columns > kMaxColumns || (columns == 0 && rows > 0))
      return Error{"not an answer in ClickHouse's Native format"};
    if (answer.columns.empty()) answer.columns.resize(columns);
    if (answer.columns.size() != columns) return Error{"its blocks have different columns"};
    for (AnswerColumn& column : answer.columns) {
      column.name = input.Text();
      column.type = input.Text();
      if (!input.ok()) return Error{"the answer was cut off"};
      if (!ReadColumn(rows, &input, &column)) {
        return Error{fmt::format("column {} has type {}, which heaprec does not read", column.name, column.type)};
      }
    }
    if (!input.ok()) return Error{"the answer was cut off"};
    answer.rows += rows;
  }
  return answer;
}

}  // namespace heaprec::tools::fleet
