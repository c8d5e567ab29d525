#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/render/renderers.h"
#include "tools/render/value_format.h"

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

}  // namespace heaprec::tools::render
