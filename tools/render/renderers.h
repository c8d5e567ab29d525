// Renders a report in each of its forms.
//
// Context:  pure functions, except for local times.
#pragma once

#include <cstdint>
#include <string>

#include "tools/render/report.h"
#include "tools/text/terminal.h"

namespace heaprec::tools::render {

enum class Form : uint8_t { kText, kJson, kMarkdown, kCsv, kHtml };

// `wide`: shows all columns with all intervals and all lines, for any terminal width. Otherwise omits columns of
// Detail::kWide, the last first, until the rest fits.
std::string RenderText(const Report& report, const Terminal& terminal, bool wide);
// Removes table rows of `group`, evenly, until its text has at most `max_lines` lines on the terminal, including
// wrapped lines. Omits tables without space for a row, the last one first. Other lines stay, so the text may be longer.
// The tables must be direct sections of the group and have one line per row.
void FitScreen(const Terminal& terminal, size_t max_lines, Group* group);
// One document, indented by two; numbers are not rounded; unknown and infinite values are null.
std::string RenderJson(const Report& report);
// A single value, on one line.
std::string JsonText(const Value& value);
// Tables in GitHub's dialect.
std::string RenderMarkdown(const Report& report, bool wide);
// The rows of all tables, with intervals in two further columns, NAME_low and NAME_high. For a report without tables
// the columns are name, value, low, high.
std::string RenderCsv(const Report& report);
// A complete page, without scripts.
std::string RenderHtml(const Report& report, bool wide);
// The contents of its body: lines and tables.
std::string HtmlBody(const Report& report, bool wide);
// One table: <table>...</table>. Cells of numbers have the exact number in data-value.
std::string HtmlTable(const Table& table, bool wide);

std::string Render(const Report& report, Form form, const Terminal& terminal, bool wide);

}  // namespace heaprec::tools::render
