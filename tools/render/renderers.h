// A report in each of its forms.
//
// Context:  pure functions, except for local times.
#pragma once

#include <cstdint>
#include <string>

#include "tools/render/report.h"
#include "tools/text/terminal.h"

namespace heaprec::tools::render {

enum class Form : uint8_t { kText, kJson, kMarkdown, kCsv, kHtml };

// `wide`: all columns with all intervals and all lines, whatever the terminal's width. Else columns of Detail::kWide
// are left out, the last first, until the rest fits.
std::string RenderText(const Report& report, const Terminal& terminal, bool wide);
// Removes table rows of `group`, evenly, until its text has at most `max_lines` lines on the terminal, wrapped lines
// included. A table without room for a row is left out, the last one first. Other lines stay, so the text may be
// longer. The tables must be direct sections of the group and have one line a row.
void FitScreen(const Terminal& terminal, size_t max_lines, Group* group);
// One document, indented by two; numbers are not rounded; what is unknown or infinite is null.
std::string RenderJson(const Report& report);
// A value alone, on one line.
std::string JsonText(const Value& value);
// Tables of GitHub's dialect.
std::string RenderMarkdown(const Report& report, bool wide);
// The rows of all tables, an interval in two more columns, NAME_low and NAME_high. Of a report without tables the
// columns name, value, low, high.
std::string RenderCsv(const Report& report);
// A page of its own, without scripts.
std::string RenderHtml(const Report& report, bool wide);
// What is in its body: lines and tables.
std::string HtmlBody(const Report& report, bool wide);
// One table: <table>...</table>. Cells of numbers have the exact number in data-value.
std::string HtmlTable(const Table& table, bool wide);

std::string Render(const Report& report, Form form, const Terminal& terminal, bool wide);

}  // namespace heaprec::tools::render
