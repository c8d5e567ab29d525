// A report as data. Text, JSON, Markdown, CSV and HTML are derived from it, so a number is declared once.
//
//   struct TopRow { double bytes, objects; std::string name; };
//   const std::vector<Column<TopRow>> kColumns{
//       {"bytes", "bytes", Unit::kBytes, Detail::kAlways, &TopRow::bytes, Detail::kAlways},
//       {"objects", "objects", Unit::kCount, Detail::kWide, &TopRow::objects},
//       {"name", "class", Unit::kText, Detail::kAlways, &TopRow::name}};
//   Report report("heaprec.top/1");
//   report.Add(Sentence("{} allocated", {{"total", total, Unit::kBytes}}));
//   report.Add(MakeTable("rows", kColumns, rows));
//   return Print(report, options.output);
//
// A name is a path in JSON: "losses.lost" is a member of an object, "tables[]" an element of an array, "" is not in
// JSON. A heading is for text; without one the column is in JSON only.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tools/render/value.h"

namespace heaprec::tools::render {

// The quantity of a number, which determines how it is shown to people.
enum class Unit : uint8_t {
  kText,            // unchanged; for a number the shortest digits
  kDigits,          // the shortest digits of a number
  kProse,           // sentences: wrapped; only a word may be shortened
  kCount,           // "421 k"
  kInteger,         // "1,234,567": all digits
  kNumber,          // "3.14": three digits
  kBytes,           // "9.65 MiB"
  kShare,           // 0.088: "8.8 %"
  kChange,          // 0.123: "+12.3 %"
  kPoints,          // the difference of two shares, 0.012: "+1.2 points"
  kProbability,     // "0.0012"
  kSeconds,         // "12.3 s", "4.00 min"
  kNanoseconds,     // "2.000 s", "1 h 02 min 03 s"
  kEpochNs,         // local time
  kBytesPerSecond,  // "54.8 MiB/s"
  kPerSecond,       // "418/s"
  kGrowth,          // bytes per second with a sign: "+1.20 MiB/s"
  kByteChange,      // "+1.20 MiB"
  kCountChange,     // "+1,234"
  kBar,             // 0 to 1: a bar
  kSparkline,       // for a list, 0 to its peak: one character per number
  kCurve,           // for a list of objects {x, share}: a line with its band
  kAlert,           // a text that is red on a terminal
  kRatio,           // 1.065: "+6.5 %"; "new" for infinity
  kByRow,           // see Row::unit and Row::suffix
};

// Where a column or a line is shown.
enum class Detail : uint8_t {
  kAlways,
  kWide,      // if there is space, or with --wide; a line with --verbose
  kJsonOnly,  // and in CSV
  kTextOnly,  // not in JSON or CSV
  kHtmlOnly,  // in HTML, which can show curves
};

struct Field {
  std::string name;
  Value value;
  Unit unit = Unit::kText;
};

// A sentence, or a heading with its fields.
struct Line {
  enum class Kind : uint8_t { kSentence, kFact, kNote };
  Kind kind = Kind::kSentence;
  std::string heading;
  // Each {} is replaced by the next field with its interval, {value} by the value only. "(s)" after one is a plural
  // ending. The other fields are only in JSON.
  std::string text;
  std::vector<Field> fields;
  Detail detail = Detail::kAlways;

  // Appends text, with the fields of its placeholders.
  Line& Continue(const std::string& more, std::vector<Field> its_fields = {}) {
    text += more;
    fields.insert(fields.end(), std::make_move_iterator(its_fields.begin()), std::make_move_iterator(its_fields.end()));
    return *this;
  }
  Line& Continue(const Line& more) { return Continue(more.text, more.fields); }
};

inline Line Sentence(std::string text, std::vector<Field> fields = {}) {
  return {Line::Kind::kSentence, "", std::move(text), std::move(fields), Detail::kAlways};
}
inline Line Fact(std::string heading, std::string text, std::vector<Field> fields, Detail detail = Detail::kAlways) {
  return {Line::Kind::kFact, std::move(heading), std::move(text), std::move(fields), detail};
}
inline Line Fact(std::string heading, Field field, Detail detail = Detail::kAlways) {
  return {Line::Kind::kFact, std::move(heading), "{}", {std::move(field)}, detail};
}
// JSON has its text in "notes".
inline Line Note(std::string text, std::vector<Field> fields = {}) {
  return {Line::Kind::kNote, "", std::move(text), std::move(fields), Detail::kAlways};
}
inline Line Hidden(std::vector<Field> fields) {
  return {Line::Kind::kSentence, "", "", std::move(fields), Detail::kJsonOnly};
}

struct ColumnInfo {
  std::string name, heading;
  Unit unit = Unit::kText;
  Detail detail = Detail::kAlways;
  Detail interval = Detail::kWide;
  size_t min_width = 0;  // in text
};

template <typename T>
struct Column {
  std::string name, heading;
  Unit unit = Unit::kText;
  Detail detail = Detail::kAlways;
  std::function<Value(const T&)> get;
  Detail interval = Detail::kWide;  // for the 95 % interval; one interval of a table should be kAlways at 80 columns
};

// Gets a part of a member: {"bytes", "bytes", Unit::kBytes, Detail::kAlways, PartOf(&Row::live, &Live::bytes)}.
template <typename T, typename Outer, typename Part>
auto PartOf(Outer T::*member, Part part) {
  return [=](const T& row) { return Value(std::invoke(part, row.*member)); };
}

struct Row {
  std::vector<Value> cells;
  std::string lead;                // before the last column, only in text; never shortened
  std::vector<std::string> below;  // more lines under the last column, only in text
  std::vector<Row> children;       // for a tree
  uint64_t left_out = 0;           // children that are not shown
  Unit unit = Unit::kNumber;       // for cells of Unit::kByRow
  std::string suffix = {};         // of their values: "/op"
  size_t height = 1;               // lines of a sparkline in the last column
};

struct Table {
  // The array of rows, which tables with the same name share; "tables[]": an object {fields, "count", "rows"}.
  std::string name;
  std::vector<Field> fields;  // of that object; the first columns in CSV
  std::vector<ColumnInfo> columns;
  std::vector<Row> rows;
  uint64_t count = 0;                        // number of all rows; text shows how many are not shown
  std::string empty;                         // text instead of a table without rows
  std::string more = "--limit 0 shows all";  // after "... 12 more; "
  Detail detail = Detail::kAlways;
  bool is_tree = false;       // rows have "children" and "left_out"
  bool is_continued = false;  // text and CSV: the headings have been printed before
};

template <typename T>
Row MakeRow(const std::vector<Column<T>>& columns, const T& of) {
  Row row;
  row.cells.reserve(columns.size());
  for (const Column<T>& column : columns) row.cells.push_back(column.get(of));
  return row;
}

// `count`: number of all rows, if `rows` are fewer.
template <typename T>
Table MakeTable(std::string name, const std::vector<Column<T>>& columns, const std::vector<T>& rows,
                uint64_t count = 0) {
  Table table{.name = std::move(name), .fields = {}, .columns = {}, .rows = {}, .count = count, .empty = {}};
  for (const Column<T>& of : columns)
    table.columns.push_back({of.name, of.heading, of.unit, of.detail, of.interval, 0});
  for (const T& row : rows) table.rows.push_back(MakeRow(columns, row));
  if (table.count < rows.size()) table.count = rows.size();
  return table;
}

// Only in JSON and CSV.
template <typename T>
Table HiddenTable(std::string name, const std::vector<Column<T>>& columns, const std::vector<T>& rows) {
  Table table = MakeTable(std::move(name), columns, rows);
  table.detail = Detail::kJsonOnly;
  return table;
}

// Returns the columns of a row as fields: "matched.bytes", "matched.objects", ...
template <typename T>
std::vector<Field> FieldsOf(const std::string& path, const std::vector<Column<T>>& columns, const T& of) {
  std::vector<Field> fields;
  for (const Column<T>& column : columns) {
    if (!column.name.empty()) fields.push_back({path + "." + column.name, column.get(of), column.unit});
  }
  return fields;
}

struct Group;
using Section = std::variant<Line, Table, Group>;

// Sections whose names have a common prefix: "recordings[]" for several documents in one, "heap" for a part.
struct Group {
  std::string name;
  std::vector<Section> sections;
  template <typename T>
  void Add(T section) {
    sections.emplace_back(std::move(section));
  }
  void Add(std::vector<Line> lines) {
    for (Line& line : lines) sections.emplace_back(std::move(line));
  }
};

// The result of a command.
struct Report : Group {
  // `its_schema`: "heaprec.top/1".
  explicit Report(std::string its_schema) : schema(std::move(its_schema)) {}
  std::string schema;
};

}  // namespace heaprec::tools::render
