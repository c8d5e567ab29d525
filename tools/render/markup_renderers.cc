// Markdown and HTML.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "tools/render/renderers.h"
#include "tools/render/value_format.h"
#include "tools/text/text.h"

namespace heaprec::tools::render {
namespace {

std::string Html(const std::string& text) {
  Text markup;
  AppendMarkup(markup, text);
  return fmt::to_string(markup);
}

// Escapes text so that it neither ends a row nor contains markup.
std::string Markdown(const std::string& text) {
  std::string markdown;
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '`' || c == '*' || c == '_' || c == '<' || c == '[' || c == '#') markdown += '\\';
    markdown += c == '\n' ? ' ' : c;
  }
  return markdown;
}

bool IsShown(Detail detail, bool wide) {
  return detail == Detail::kAlways || detail == Detail::kTextOnly || (detail == Detail::kWide && wide);
}

bool IsShown(const ColumnInfo& column, bool wide) { return !column.heading.empty() && IsShown(column.detail, wide); }

bool IsInHtml(const ColumnInfo& column, bool wide) {
  return IsShown(column, wide) || column.detail == Detail::kHtmlOnly;
}

// `more`: how to see the other rows; a page has no options.
std::string Rest(const Table& table, const std::string& more = "") {
  if (table.count <= table.rows.size()) return "";
  return fmt::format("... {} more{}", table.count - table.rows.size(), more);
}

void MarkdownRows(const Table& table, const std::vector<Row>& rows, bool wide, const std::string& indent,
                  std::string* into) {
  for (const Row& row : rows) {
    *into += "|";
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const ColumnInfo& column = table.columns[i];
      if (!IsShown(column, wide)) continue;
      const std::string cell = Markdown(FormatInline(FormatCell(row, i, column.unit, true)));
      *into += fmt::format(" {}{} |", IsNumeric(column.unit) ? "" : indent, cell);
    }
    *into += "\n";
    MarkdownRows(table, row.children, wide, indent + "&nbsp;&nbsp;", into);
  }
}

void MarkdownTable(const Table& table, bool wide, std::string* into) {
  if (table.rows.empty()) {
    if (!table.empty.empty()) *into += "\n" + Markdown(table.empty) + "\n\n";
    return;
  }
  std::string headings = "|", rule = "|";
  for (const ColumnInfo& column : table.columns) {
    if (!IsShown(column, wide)) continue;
    headings += " " + Markdown(column.heading) + " |";
    rule += IsNumeric(column.unit) ? " ---: |" : " --- |";
  }
  *into += "\n" + headings + "\n" + rule + "\n";
  MarkdownRows(table, table.rows, wide, "", into);
  if (const std::string rest = Rest(table, "; " + table.more); !rest.empty()) *into += "\n" + rest + "\n";
  *into += "\n";
}

void MarkdownGroup(const Group& group, bool wide, std::string* into) {
  for (const Section& section : group.sections) {
    if (const auto* line = std::get_if<Line>(&section); line != nullptr && IsShown(line->detail, wide)) {
      const std::string text = Markdown(FormatLine(*line, true));
      *into += line->kind == Line::Kind::kFact ? fmt::format("- **{}**: {}\n", Markdown(line->heading), text)
                                               : text + "  \n";
    }
    if (const auto* table = std::get_if<Table>(&section); table != nullptr && IsShown(table->detail, wide)) {
      MarkdownTable(*table, wide, into);
    }
    if (const auto* inner = std::get_if<Group>(&section)) {
      *into += "\n";
      MarkdownGroup(*inner, wide, into);
    }
  }
}

// A list as a curve. Lists of a column share their first axis: `longest` has its end.
class Curve {
 public:
  Curve(const Value& list, size_t longest) : longest_(longest) {
    const auto* of = list.As<List>();
    for (const Value& one : of != nullptr ? *of : List()) points_.push_back(PointOf(one));
  }

  // `peak`: of the second axis; 0: the largest value.
  std::string Svg(double peak) const {
    if (points_.size() < 2) return "";
    if (peak == 0) {
      for (const Point& point : points_) peak = std::max(peak, point.value);
    }
    std::string line, top, bottom;
    for (size_t i = 0; i < points_.size(); ++i) {
      line += At(i, points_[i].value, peak);
      top += At(i, points_[i].high, peak);
      bottom = At(i, points_[i].low, peak) + bottom;
    }
    return fmt::format(
        "<svg class=\"curve\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" preserveAspectRatio=\"none\" "
        "role=\"img\"><title>{2}</title><polygon points=\"{3}{4}\"/>"
        "<polyline points=\"{5}\"/></svg>",
        kWidth, kHeight, Html(Title()), top, bottom, line);
  }

 private:
  static constexpr int kWidth = 140, kHeight = 28;
  static constexpr size_t kTold = 6;  // points in the title
  struct Point {
    double value = 0, low = 0, high = 0;
    std::string text;
  };

  static Point PointOf(const Value& of) {
    const auto* object = of.As<Object>();
    const Value& y = object != nullptr ? object->back().value : of;
    const double value = y.Number().value_or(0);
    const auto* interval = y.As<Interval>();
    Point point{value, interval != nullptr ? interval->low : value, interval != nullptr ? interval->high : value, ""};
    if (object == nullptr) return point;
    const Unit unit = object->front().name == "seconds" ? Unit::kSeconds : Unit::kInteger;
    point.text = FormatInline(object->front().value, unit, true) + ": " + FormatInline(y, Unit::kShare, true);
    return point;
  }

  std::string At(size_t i, double value, double peak) const {
    const double x = static_cast<double>(i) / static_cast<double>(std::max<size_t>(longest_ - 1, 1));
    const double y = peak > 0 && std::isfinite(value) ? std::clamp(value / peak, 0.0, 1.0) : 0;
    return fmt::format("{:.1f},{:.1f} ", x * kWidth, kHeight - 1 - y * (kHeight - 2));
  }

  std::string Title() const {
    std::string title;
    const size_t step = std::max<size_t>(1, points_.size() / kTold);
    for (size_t i = 0; i < points_.size(); i += step) {
      if (!points_[i].text.empty()) title += (title.empty() ? "" : ", ") + points_[i].text;
    }
    return title;
  }

  size_t longest_;
  std::vector<Point> points_;
};

size_t LengthOf(const Value& value) {
  const auto* list = value.As<List>();
  return list != nullptr ? list->size() : 0;
}

size_t LongestIn(const Table& table, size_t column) {
  size_t longest = 0;
  for (const Row& row : table.rows) longest = std::max(longest, LengthOf(row.cells[column]));
  return longest;
}

std::string HtmlCell(const Row& row, size_t index, const ColumnInfo& column, size_t longest) {
  const Value& value = row.cells[index];
  if (column.unit == Unit::kCurve) return "<td>" + Curve(value, longest).Svg(1) + "</td>";
  if (column.unit == Unit::kSparkline) return "<td>" + Curve(value, longest).Svg(0) + "</td>";
  const CellText cell = FormatCell(row, index, column.unit, true);
  if (!IsNumeric(column.unit)) return fmt::format("<td><bdi>{}</bdi></td>", Html(cell.value));
  const auto number = value.Number();
  const std::string exact = number && std::isfinite(*number) ? fmt::format(" data-value=\"{}\"", *number) : "";
  const std::string interval = cell.interval.empty() ? "" : fmt::format(" <small>{}</small>", Html(cell.interval));
  return fmt::format("<td class=\"number\"{}>{}{}</td>", exact, Html(cell.value), interval);
}

// A shown column: its number, and the length of its longest list.
struct HtmlColumn {
  size_t index = 0, longest = 0;
};

void HtmlRows(const Table& table, const std::vector<HtmlColumn>& columns, std::string* into) {
  for (const Row& row : table.rows) {
    *into += "<tr>";
    for (const auto [i, longest] : columns) *into += HtmlCell(row, i, table.columns[i], longest);
    *into += "</tr>\n";
  }
}

// A tree as elements that open and close without a script.
class HtmlTree {
 public:
  // `columns`: those that are shown, the name first.
  HtmlTree(const Table& table, const std::vector<HtmlColumn>& columns) : table_(table), columns_(columns) {
    for (const HtmlColumn& column : columns) {
      if (table.columns[column.index].unit == Unit::kShare && !share_) share_ = column.index;
    }
    for (const Row& row : table.rows) {
      if (share_) widest_ = std::max(widest_, LimitsOf(row.cells[*share_]).second);
    }
  }

  std::string Html() const {
    std::string html = "<div class=\"tree\">\n<div class=\"row heading\">";
    for (const HtmlColumn& column : columns_) {
      const ColumnInfo& info = table_.columns[column.index];
      html += fmt::format("<span class=\"{}\">{}</span>", ClassOf(info), render::Html(info.heading));
    }
    html += share_ ? Weight({}) + "</div>\n" : "</div>\n";
    Append(table_.rows, table_.count - table_.rows.size(), /*is_open=*/true, &html);
    return html + "</div>\n";
  }

 private:
  static constexpr double kWidth = 96;
  static constexpr int kHeight = 12;

  static const char* ClassOf(const ColumnInfo& column) { return IsNumeric(column.unit) ? "number" : "name"; }

  static std::pair<double, double> LimitsOf(const Value& value) {
    const auto* interval = value.As<Interval>();
    const double number = value.Number().value_or(0);
    return interval != nullptr ? std::pair(interval->low, interval->high) : std::pair(number, number);
  }

  // The share as a bar, and its interval as a line; empty in the heading.
  std::string Weight(const Value& share) const {
    const auto at = [this](double part) {
      return widest_ > 0 && std::isfinite(part) ? std::clamp(part / widest_, 0.0, 1.0) * kWidth : 0;
    };
    const auto [low, high] = LimitsOf(share);
    return fmt::format(
        "<svg class=\"weight\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" aria-hidden=\"true\">"
        "<rect class=\"rail\" y=\"1\" width=\"{2:.1f}\" height=\"{3}\"/>"
        "<path class=\"whisker\" d=\"M{4:.1f} {5}H{6:.1f}\"/></svg>",
        kWidth, kHeight, at(share.Number().value_or(0)), kHeight - 2, at(low), kHeight / 2, at(high));
  }

  std::string Cells(const Row& row) const {
    std::string html;
    for (const HtmlColumn& column : columns_) {
      const ColumnInfo& info = table_.columns[column.index];
      const CellText cell = FormatCell(row, column.index, info.unit, true);
      const std::string interval =
          cell.interval.empty() ? "" : fmt::format(" <small>{}</small>", render::Html(cell.interval));
      html +=
          fmt::format("<span class=\"{}\"><bdi>{}</bdi>{}</span>", ClassOf(info), render::Html(cell.value), interval);
    }
    return share_ ? html + Weight(row.cells[*share_]) : html;
  }

  // `is_open`: the first row, which is the heaviest, is open, and so is its first child.
  void Append(const std::vector<Row>& rows, uint64_t left_out, bool is_open, std::string* into) const {
    for (const Row& row : rows) {
      if (row.children.empty() && row.left_out == 0) {
        *into += "<div class=\"row leaf\">" + Cells(row) + "</div>\n";
        continue;
      }
      const bool opens = is_open && &row == &rows.front();
      *into += fmt::format("<details{}><summary class=\"row\">{}</summary>\n", opens ? " open" : "", Cells(row));
      Append(row.children, row.left_out, opens, into);
      *into += "</details>\n";
    }
    if (left_out > 0) *into += fmt::format("<div class=\"row leaf rest\">... {} more</div>\n", left_out);
  }

  const Table& table_;
  const std::vector<HtmlColumn>& columns_;
  std::optional<size_t> share_;  // the column
  double widest_ = 0;            // share, whose bar takes the whole width
};

void HtmlGroup(const Group& group, bool wide, std::string* into) {
  for (const Section& section : group.sections) {
    if (const auto* line = std::get_if<Line>(&section); line != nullptr && IsShown(line->detail, wide)) {
      const std::string text = Html(FormatLine(*line, true));
      const bool is_fact = line->kind == Line::Kind::kFact;
      *into +=
          is_fact ? fmt::format("<p><b>{}</b>: {}</p>\n", Html(line->heading), text) : fmt::format("<p>{}</p>\n", text);
    }
    if (const auto* table = std::get_if<Table>(&section); table != nullptr && IsShown(table->detail, wide)) {
      *into += HtmlTable(*table, wide);
    }
    if (const auto* inner = std::get_if<Group>(&section)) HtmlGroup(*inner, wide, into);
  }
}

constexpr char kStyle[] =
    "body{font:14px sans-serif;margin:1em}table{border-collapse:collapse;margin:1em 0}"
    "th,td{padding:2px 8px;text-align:left;border-bottom:1px solid #ddd}.number{text-align:right}"
    ".tree small{margin-left:4px}.row{display:flex;gap:12px;padding:2px 0;border-bottom:1px solid #ddd}.row "
    ".name{flex:1;"
    "overflow-wrap:anywhere}.row .number{flex:0 0 11em}.weight{flex:none}details>:not(summary){margin-left:14px}"
    "summary .name::before{content:'\\25b8 '}details[open]>summary .name::before{content:'\\25be '}"
    ".rail{fill:#bfd0f5}.whisker{stroke:#555}small{color:#666}p{margin:2px "
    "0}polyline{fill:none;stroke:#2a5bd0}polygon{fill:#2a5bd0;opacity:.2}";

}  // namespace

std::string RenderMarkdown(const Report& report, bool wide) {
  std::string text;
  MarkdownGroup(report, wide, &text);
  return text;
}

std::string HtmlTable(const Table& table, bool wide) {
  if (table.rows.empty()) return table.empty.empty() ? "" : "<p>" + Html(table.empty) + "</p>\n";
  std::vector<HtmlColumn> columns;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (IsInHtml(table.columns[i], wide)) columns.push_back({i, LongestIn(table, i)});
  }
  // In text the name comes last, because long names do no harm there; on a wide page it would scroll out of view.
  const bool ends_in_name = !columns.empty() && table.columns[columns.back().index].unit == Unit::kText;
  if (ends_in_name) std::rotate(columns.begin(), columns.end() - 1, columns.end());
  if (table.is_tree) return HtmlTree(table, columns).Html();
  std::string html = "<table>\n<tr>";
  for (const auto [i, longest] : columns) {
    const ColumnInfo& column = table.columns[i];
    html += fmt::format("<th{}>{}</th>", IsNumeric(column.unit) ? " class=\"number\"" : "", Html(column.heading));
  }
  html += "</tr>\n";
  HtmlRows(table, columns, &html);
  html += "</table>\n";
  if (const std::string rest = Rest(table); !rest.empty()) html += "<p>" + rest + "</p>\n";
  return html;
}

std::string HtmlBody(const Report& report, bool wide) {
  std::string body;
  HtmlGroup(report, wide, &body);
  return body;
}

std::string RenderHtml(const Report& report, bool wide) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title><style>{}</style></head>\n"
      "<body>\n{}</body></html>\n",
      Html(report.schema.substr(0, report.schema.find('/'))), kStyle, HtmlBody(report, wide));
}

}  // namespace heaprec::tools::render
