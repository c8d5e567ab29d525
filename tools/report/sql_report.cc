#include "tools/report/sql_report.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

// Of which the widths of the columns are made.
constexpr size_t kRowsToMeasure = 1000;

std::string_view TextOf(sqlite3_stmt* statement, int column) {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return text == nullptr ? std::string_view()
                         : std::string_view(text, static_cast<size_t>(sqlite3_column_bytes(statement, column)));
}

// Numbers as short as they can be and read back the same.
void AppendValue(sqlite3_stmt* statement, int column, Text& into) {
  if (sqlite3_column_type(statement, column) == SQLITE_FLOAT) {
    fmt::format_to(fmt::appender(into), "{}", sqlite3_column_double(statement, column));
  } else {
    Append(into, TextOf(statement, column));
  }
}

bool IsNumber(sqlite3_stmt* statement, int column) {
  const int type = sqlite3_column_type(statement, column);
  return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

void AppendCsv(std::string_view field, Text& into) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) return Append(into, field);
  into.push_back('"');
  for (const char c : field) {
    if (c == '"') into.push_back('"');
    into.push_back(c);
  }
  into.push_back('"');
}

void AppendJsonValue(sqlite3_stmt* statement, int column, Text& into) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
      return Append(into, "null");
    case SQLITE_INTEGER:
      return Append(into, TextOf(statement, column));
    case SQLITE_FLOAT:
      return AppendJsonNumber(into, sqlite3_column_double(statement, column));
    default:
      return AppendJsonString(into, TextOf(statement, column));
  }
}

class Table {
 public:
  explicit Table(Output* output) : output_(*output) {}

  void Names(sqlite3_stmt* statement) {
    for (int column = 0; column < sqlite3_column_count(statement); ++column) {
      Put({sqlite3_column_name(statement, column), false});
    }
    EndRow();
  }
  void Row(sqlite3_stmt* statement) {
    for (int column = 0; column < sqlite3_column_count(statement); ++column) {
      Text value;
      AppendValue(statement, column, value);
      Text printable;
      AppendPrintable(printable, {value.data(), value.size()});
      Put({fmt::to_string(printable), IsNumber(statement, column)});
    }
    EndRow();
    if (rows_.size() > kRowsToMeasure) Flush();
  }
  void Flush() {
    for (const auto& row : rows_) Write(row);
    rows_.clear();
  }

 private:
  struct Cell {
    std::string text;
    bool is_number;
  };
  // Characters, as most terminals are wide: what follows the first byte of one takes no place.
  static size_t Width(const std::string& text) {
    return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
  }
  void Put(Cell cell) { row_.push_back(std::move(cell)); }
  void EndRow() {
    widths_.resize(row_.size());
    are_numbers_.resize(row_.size());
    for (size_t i = 0; i < row_.size(); ++i) {
      widths_[i] = std::max(widths_[i], Width(row_[i].text));
      are_numbers_[i] = are_numbers_[i] || row_[i].is_number;
    }
    rows_.push_back(std::move(row_));
    row_.clear();
  }
  void Write(const std::vector<Cell>& row) {
    Text& text = output_.text();
    for (size_t i = 0; i < row.size(); ++i) {
      const size_t width = Width(row[i].text);
      const size_t blank = widths_[i] > width ? widths_[i] - width : 0;
      const bool right = are_numbers_[i];
      const bool last = i + 1 == row.size();
      fmt::format_to(fmt::appender(text), "{:{}}{}{:{}}{}", "", right ? blank : 0, row[i].text, "",
                     right || last ? 0 : blank, last ? "\n" : "  ");
    }
    output_.Tick();
  }

  Output& output_;
  std::vector<Cell> row_;
  std::vector<std::vector<Cell>> rows_;  // whose widths are not settled
  std::vector<size_t> widths_;
  std::vector<bool> are_numbers_;
};

int WriteTable(sqlite3_stmt* statement, Output* output) {
  Table table(output);
  table.Names(statement);
  int result = SQLITE_OK;
  while (!output->failed() && (result = sqlite3_step(statement)) == SQLITE_ROW) table.Row(statement);
  table.Flush();
  return result;
}

int WriteCsv(sqlite3_stmt* statement, Output* output) {
  const int columns = sqlite3_column_count(statement);
  for (int column = 0; column < columns; ++column) {
    AppendCsv(sqlite3_column_name(statement, column), output->text());
    output->Append(column + 1 < columns ? "," : "\n");
  }
  int result = SQLITE_OK;
  while (!output->failed() && (result = sqlite3_step(statement)) == SQLITE_ROW) {
    for (int column = 0; column < columns; ++column) {
      Text value;
      AppendValue(statement, column, value);
      AppendCsv({value.data(), value.size()}, output->text());
      output->Append(column + 1 < columns ? "," : "\n");
    }
    output->Tick();
  }
  return result;
}

int WriteJson(sqlite3_stmt* statement, Output* output) {
  const int columns = sqlite3_column_count(statement);
  const char* before = "[\n{";
  int result = SQLITE_OK;
  while (!output->failed() && (result = sqlite3_step(statement)) == SQLITE_ROW) {
    output->Append(before);
    before = ",\n{";
    for (int column = 0; column < columns; ++column) {
      if (column > 0) output->Append(",");
      AppendJsonString(output->text(), sqlite3_column_name(statement, column));
      output->Append(":");
      AppendJsonValue(statement, column, output->text());
    }
    output->Append("}");
    output->Tick();
  }
  output->Append(before[0] == '[' ? "[]\n" : "\n]\n");
  return result;
}

}  // namespace

int WriteResult(sqlite3_stmt* statement, ResultForm form, Output* output) {
  switch (form) {
    case ResultForm::kTable:
      return WriteTable(statement, output);
    case ResultForm::kCsv:
      return WriteCsv(statement, output);
    case ResultForm::kJson:
      return WriteJson(statement, output);
  }
  return SQLITE_MISUSE;
}

}  // namespace heaprec::tools
