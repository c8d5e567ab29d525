#include "tools/render/fit_screen.h"

#include <algorithm>
#include <vector>

#include "tools/render/renderers.h"

namespace heaprec::tools::render {
namespace {

// An empty line, the headings and "... 12 more".
constexpr size_t kLinesAroundRows = 3;

size_t LinesOnScreen(const std::string& text, size_t width) {
  size_t lines = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const size_t columns = WidthOf(std::string_view(text).substr(at, end - at));
    lines += width == 0 || columns == 0 ? 1 : (columns + width - 1) / width;
    at = end + 1;
  }
  return lines;
}

bool IsShownLine(const Section& section) {
  const auto* line = std::get_if<Line>(&section);
  return line != nullptr && (line->detail == Detail::kAlways || line->detail == Detail::kTextOnly);
}

}  // namespace

void FitScreen(const Terminal& terminal, size_t max_lines, Group* group) {
  Terminal plain = terminal;
  plain.colour = false;
  Report lines("");
  std::vector<Table*> tables;
  size_t gaps = 0;  // empty lines between a table and a line below it
  bool is_below_table = false;
  for (Section& section : group->sections) {
    if (auto* table = std::get_if<Table>(&section)) {
      if (!table->rows.empty() && table->detail == Detail::kAlways) tables.push_back(table), is_below_table = true;
    } else {
      if (is_below_table && IsShownLine(section)) ++gaps, is_below_table = false;
      lines.sections.push_back(section);
    }
  }
  const size_t used = gaps + LinesOnScreen(RenderText(lines, plain, false), terminal.width);
  const size_t room = max_lines - std::min(used, max_lines);
  const size_t shown = std::min(tables.size(), room / (kLinesAroundRows + 1));
  size_t rows_left = room - std::min(room, shown * kLinesAroundRows);
  std::vector<size_t> rows(tables.size(), 0);
  for (bool has_more = true; has_more;) {
    has_more = false;
    for (size_t i = 0; i < shown && rows_left > 0; ++i) {
      if (rows[i] == tables[i]->rows.size()) continue;
      ++rows[i];
      --rows_left;
      has_more = true;
    }
  }
  for (size_t i = 0; i < tables.size(); ++i) {
    tables[i]->rows.resize(rows[i]);
    if (rows[i] == 0) tables[i]->detail = Detail::kWide;
  }
}

}  // namespace heaprec::tools::render
