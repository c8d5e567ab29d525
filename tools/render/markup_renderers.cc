// Markdown and HTML.
#include <fmt/format.h>

#include <cmath>

#include "tools/render/renderers.h"
#include "tools/render/value_format.h"
#include "tools/text/markup.h"

namespace heaprec::tools::render {
namespace {

std::string Html(const std::string& text) {
  Text markup;
  AppendMarkup(markup, text);
  return fmt::to_string(markup);
}

// Neither a row's end nor markup of its own.
std::string Markdown(const std::string& text) {
  std::string markdown;
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '`' || c == '*' || c == '_' || c == '<' || c == '[') markdown += '\\';
    markdown += c == '\n' ? ' ' : c;
  }
  return markdown;
}

bool IsShown(Detail detail, bool wide) {
  return detail == Detail::kAlways || detail == Detail::kTextOnly || (detail == Detail::kWide && wide);
}

bool IsShown(const ColumnInfo& column, bool wide) { return !column.heading.empty() && IsShown(column.detail, wide); }

std::string Rest(const Table& table) {
  if (table.count <= table.rows.size()) return "";
  return fmt::format("... {} more; {}", table.count - table.rows.size(), table.more);
}

void MarkdownRows(const Table& table, const std::vector<Row>& rows, bool wide, const std::string& indent,
                  std::string* into) {
  for (const Row& row : rows) {
    *into += "|";
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const ColumnInfo& column = table.columns[i];
      if (!IsShown(column, wide)) continue;
      const std::string cell =
          Markdown(FormatInline(row.cells[i], column.unit == Unit::kByRow ? row.unit : column.unit, true));
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
  if (const std::string rest = Rest(table); !rest.empty()) *into += "\n" + rest + "\n";
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

std::string HtmlCell(const Value& value, const ColumnInfo& column, const std::string& indent) {
  const CellText cell = FormatCell(value, column.unit, true);
  if (!IsNumeric(column.unit)) return fmt::format("<td>{}{}</td>", indent, Html(cell.value));
  const auto number = value.Number();
  const std::string exact = number && std::isfinite(*number) ? fmt::format(" data-value=\"{}\"", *number) : "";
  const std::string interval = cell.interval.empty() ? "" : fmt::format(" <small>{}</small>", Html(cell.interval));
  return fmt::format("<td class=\"number\"{}>{}{}</td>", exact, Html(cell.value), interval);
}

void HtmlRows(const Table& table, const std::vector<Row>& rows, bool wide, const std::string& indent,
              std::string* into) {
  for (const Row& row : rows) {
    *into += "<tr>";
    for (size_t i = 0; i < table.columns.size(); ++i) {
      if (IsShown(table.columns[i], wide)) *into += HtmlCell(row.cells[i], table.columns[i], indent);
    }
    *into += "</tr>\n";
    HtmlRows(table, row.children, wide, indent + "&nbsp;&nbsp;", into);
  }
}

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
    "small{color:#666}p{margin:2px 0}";

}  // namespace

std::string RenderMarkdown(const Report& report, bool wide) {
  std::string text;
  MarkdownGroup(report, wide, &text);
  return text;
}

std::string HtmlTable(const Table& table, bool wide) {
  if (table.rows.empty()) return table.empty.empty() ? "" : "<p>" + Html(table.empty) + "</p>\n";
  std::string html = "<table>\n<tr>";
  for (const ColumnInfo& column : table.columns) {
    if (!IsShown(column, wide)) continue;
    html += fmt::format("<th{}>{}</th>", IsNumeric(column.unit) ? " class=\"number\"" : "", Html(column.heading));
  }
  html += "</tr>\n";
  HtmlRows(table, table.rows, wide, "", &html);
  html += "</table>\n";
  if (const std::string rest = Rest(table); !rest.empty()) html += "<p>" + rest + "</p>\n";
  return html;
}

std::string RenderHtml(const Report& report, bool wide) {
  std::string body;
  HtmlGroup(report, wide, &body);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title><style>{}</style></head>\n"
      "<body>\n{}</body></html>\n",
      Html(report.schema.substr(0, report.schema.find('/'))), kStyle, body);
}

}  // namespace heaprec::tools::render
