#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/render/renderers.h"
#include "tools/render/value_format.h"
#include "tools/text/text.h"

namespace heaprec::tools::render {
namespace {

using Json = nlohmann::ordered_json;

Json NumberOrNull(double number) { return std::isfinite(number) ? Json(number) : Json(); }

Json JsonOf(const Value& value) {
  if (const auto* truth = value.As<bool>()) return *truth;
  if (const auto* number = value.As<uint64_t>()) return *number;
  if (const auto* number = value.As<int64_t>()) return *number;
  if (const auto* number = value.As<double>()) return NumberOrNull(*number);
  if (const auto* text = value.As<std::string>()) return *text;
  if (const auto* of = value.As<Interval>()) {
    return {{"value", NumberOrNull(of->value)}, {"low", NumberOrNull(of->low)}, {"high", NumberOrNull(of->high)}};
  }
  if (const auto* list = value.As<List>()) {
    Json array = Json::array();
    for (const Value& one : *list) array.push_back(JsonOf(one));
    return array;
  }
  if (const auto* object = value.As<Object>()) {
    Json members = Json::object();
    for (const Member& member : *object) members[member.name] = JsonOf(member.value);
    return members;
  }
  return nullptr;
}

// Puts a value at a path: "a.b" in an object in an object, "a[]" at the end of an array. An array is appended to an
// existing one. A null member of a null object is omitted, so that the object stays null.
void Put(Json* into, std::string_view path, Json value) {
  const size_t dot = path.find('.');
  if (dot != std::string_view::npos) {
    const auto outer = into->find(std::string(path.substr(0, dot)));
    if (value.is_null() && outer != into->end() && outer->is_null()) return;
    return Put(&(*into)[std::string(path.substr(0, dot))], path.substr(dot + 1), value);
  }
  if (!path.ends_with("[]")) {
    Json& there = (*into)[std::string(path)];
    if (there.is_array() && value.is_array()) return (void)there.insert(there.end(), value.begin(), value.end());
    there = std::move(value);
    return;
  }
  Json& array = (*into)[std::string(path.substr(0, path.size() - 2))];
  if (!array.is_array()) array = Json::array();
  array.push_back(std::move(value));
}

void PutFields(const std::vector<Field>& fields, Json* into) {
  for (const Field& field : fields) {
    if (!field.name.empty()) Put(into, field.name, JsonOf(field.value));
  }
}

Json RowsOf(const Table& table, const std::vector<Row>& rows) {
  Json array = Json::array();
  for (const Row& row : rows) {
    Json one = Json::object();
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const ColumnInfo& column = table.columns[i];
      if (column.detail != Detail::kTextOnly && !column.name.empty()) Put(&one, column.name, JsonOf(row.cells[i]));
    }
    if (table.is_tree) {
      one["children"] = RowsOf(table, row.children);
      one["left_out"] = row.left_out;
    }
    array.push_back(std::move(one));
  }
  return array;
}

void PutTable(const Table& table, Json* into) {
  if (table.detail == Detail::kTextOnly || table.name.empty()) return;
  if (!table.name.ends_with("[]")) return Put(into, table.name, RowsOf(table, table.rows));
  Json object = Json::object();
  PutFields(table.fields, &object);
  object["count"] = table.count;
  object["rows"] = RowsOf(table, table.rows);
  Put(into, table.name, std::move(object));
}

void PutGroup(const Group& group, Json* into) {
  for (const Section& section : group.sections) {
    if (const auto* line = std::get_if<Line>(&section)) {
      if (line->detail != Detail::kTextOnly) PutFields(line->fields, into);
      if (line->kind == Line::Kind::kNote) Put(into, "notes[]", FormatLine(*line, true));
    } else if (const auto* table = std::get_if<Table>(&section)) {
      PutTable(*table, into);
    } else if (const auto* inner = std::get_if<Group>(&section)) {
      if (inner->name.empty()) {
        PutGroup(*inner, into);
        continue;
      }
      Json object = Json::object();
      PutGroup(*inner, &object);
      Put(into, inner->name, std::move(object));
    }
  }
}

}  // namespace

std::string JsonText(const Value& value) { return JsonOf(value).dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string RenderJson(const Report& report) {
  Json document = {{"schema", report.schema}, {"notes", Json::array()}};
  PutGroup(report, &document);
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

// Converts "cumulative.bytes" of JSON to cumulative_bytes.
std::string ColumnName(std::string name) {
  for (char& c : name) c = c == '.' ? '_' : c;
  return name;
}

void AppendNumber(double number, Text* into) {
  if (std::isfinite(number)) AppendJsonNumber(*into, number);
}

// Quotes only if necessary; empty if unknown.
void AppendValue(const Value& value, Text* into) {
  if (const auto* truth = value.As<bool>()) return Append(*into, *truth ? "true" : "false");
  if (const auto* number = value.As<uint64_t>()) return Append(*into, *number);
  if (const auto* number = value.As<int64_t>()) return Append(*into, std::to_string(*number));
  if (const auto* number = value.As<double>()) return AppendNumber(*number, into);
  if (const auto* interval = value.As<Interval>()) return AppendNumber(interval->value, into);
  if (const auto* text = value.As<std::string>()) return AppendCsvField(*text, *into);
  if (const auto* list = value.As<List>()) {
    Text joined;
    for (const Value& one : *list) {
      if (joined.size() > 0) joined.push_back(';');
      AppendValue(one, &joined);
    }
    AppendCsvField({joined.data(), joined.size()}, *into);
  }
}

void AppendEnds(const Value& value, Text* into) {
  const auto* interval = value.As<Interval>();
  into->push_back(',');
  if (interval != nullptr) AppendNumber(interval->low, into);
  into->push_back(',');
  if (interval != nullptr) AppendNumber(interval->high, into);
}

bool HasIntervals(const std::vector<Row>& rows, size_t column) {
  for (const Row& row : rows) {
    if (row.cells[column].As<Interval>() != nullptr || HasIntervals(row.children, column)) return true;
  }
  return false;
}

class CsvForm {
 public:
  void Add(const Group& group) {
    for (const Section& section : group.sections) {
      if (const auto* table = std::get_if<Table>(&section)) AddTable(*table);
      if (const auto* inner = std::get_if<Group>(&section)) Add(*inner);
    }
  }
  void AddFacts(const Group& group, const std::string& path) {
    for (const Section& section : group.sections) {
      if (const auto* inner = std::get_if<Group>(&section)) AddFacts(*inner, path + inner->name + ".");
      const auto* line = std::get_if<Line>(&section);
      if (line == nullptr || line->detail == Detail::kTextOnly) continue;
      for (const Field& field : line->fields) {
        if (field.name.empty()) continue;
        AppendCsvField(path + field.name, text_);
        text_.push_back(',');
        AppendValue(field.value, &text_);
        AppendEnds(field.value, &text_);
        text_.push_back('\n');
      }
    }
  }
  bool has_table() const { return has_table_; }
  std::string text() const { return {text_.data(), text_.size()}; }
  void AddHeading(const std::string& heading) {
    if (heading == heading_) return;
    if (!heading_.empty()) text_.push_back('\n');
    heading_ = heading;
    Append(text_, heading);
  }

 private:
  void AddTable(const Table& table) {
    if (table.detail == Detail::kTextOnly) return;
    has_table_ = true;
    columns_.clear();
    std::string heading;
    for (const Field& field : table.fields) heading += ColumnName(field.name) + ",";
    if (table.is_tree) heading += "depth,";
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const ColumnInfo& column = table.columns[i];
      if (column.detail == Detail::kTextOnly || column.name.empty()) continue;
      const bool has_ends = HasIntervals(table.rows, i);
      columns_.push_back({i, has_ends});
      const std::string name = ColumnName(column.name);
      heading += name + (has_ends ? "," + name + "_low," + name + "_high," : ",");
    }
    if (!heading.empty()) heading.back() = '\n';
    if (!table.is_continued) AddHeading(heading);
    AddRows(table, table.rows, 0);
  }

  void AddRows(const Table& table, const std::vector<Row>& rows, uint64_t depth) {
    for (const Row& row : rows) {
      for (const Field& field : table.fields) {
        AppendValue(field.value, &text_);
        text_.push_back(',');
      }
      if (table.is_tree) {
        Append(text_, depth);
        text_.push_back(',');
      }
      for (const auto& [column, has_ends] : columns_) {
        if (column != columns_.front().first) text_.push_back(',');
        AppendValue(row.cells[column], &text_);
        if (has_ends) AppendEnds(row.cells[column], &text_);
      }
      text_.push_back('\n');
      AddRows(table, row.children, depth + 1);
    }
  }

  Text text_;
  std::string heading_;
  bool has_table_ = false;
  std::vector<std::pair<size_t, bool>> columns_;  // of the current table, and whether they have intervals
};

}  // namespace

std::string RenderCsv(const Report& report) {
  CsvForm form;
  form.Add(report);
  if (form.has_table()) return form.text();
  form.AddHeading("name,value,low,high\n");
  form.AddFacts(report, "");
  return form.text();
}

}  // namespace heaprec::tools::render
