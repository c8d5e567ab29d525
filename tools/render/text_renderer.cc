#include <algorithm>
#include <vector>

#include "tools/render/renderers.h"
#include "tools/render/text_layout.h"
#include "tools/render/value_format.h"

namespace heaprec::tools::render {
namespace {

constexpr size_t kShortestHeading = 10;

class TextForm {
 public:
  TextForm(const Terminal& terminal, bool wide) : terminal_(terminal), wide_(wide) {}

  void Add(const Group& group) {
    for (size_t i = 0; i < group.sections.size(); ++i) {
      const Section& section = group.sections[i];
      if (const auto* line = std::get_if<Line>(&section)) AddLine(*line, group);
      if (const auto* table = std::get_if<Table>(&section)) AddTable(*table);
      if (const auto* inner = std::get_if<Group>(&section)) {
        wants_gap_ = wants_gap_ || (!text_.empty() && inner->name.ends_with("[]") && LinesOf(*inner) > 1);
        Add(*inner);
      }
    }
  }
  std::string text() && { return std::move(text_); }

 private:
  bool IsShown(Detail detail) const {
    return detail == Detail::kAlways || detail == Detail::kTextOnly || (detail == Detail::kWide && wide_);
  }

  size_t LinesOf(const Group& group) const {
    return static_cast<size_t>(std::ranges::count_if(group.sections, [this](const Section& section) {
      const auto* line = std::get_if<Line>(&section);
      const auto* table = std::get_if<Table>(&section);
      return line != nullptr ? IsShown(line->detail) : table == nullptr || IsShown(table->detail);
    }));
  }

  void AddLine(const Line& line, const Group& group) {
    if (!IsShown(line.detail)) return;
    Gap();
    if (line.kind != Line::Kind::kFact) {
      text_ += FormatLine(line, terminal_.unicode) + "\n";
      return;
    }
    const std::string heading = line.heading + ":";
    const size_t width = HeadingWidth(group);
    text_ += heading + std::string(width - std::min(width, WidthOf(heading)), ' ') + " " +
             FormatLine(line, terminal_.unicode) + "\n";
  }

  // Returns the width of the headings of a group's lines.
  size_t HeadingWidth(const Group& group) const {
    size_t width = kShortestHeading;
    for (const Section& section : group.sections) {
      const auto* line = std::get_if<Line>(&section);
      if (line != nullptr && line->kind == Line::Kind::kFact && IsShown(line->detail)) {
        width = std::max(width, WidthOf(line->heading) + 1);
      }
    }
    return width;
  }

  void AddTable(const Table& table) {
    if (!IsShown(table.detail)) return;
    if (table.rows.empty() && table.empty.empty() && table.count == 0) return;
    wants_gap_ = !text_.empty();
    Gap();
    text_ += table.rows.empty() && !table.empty.empty() ? table.empty + "\n" : LayOut(table, terminal_, wide_);
    if (table.count > table.rows.size()) {
      const Line rest = Sentence("... {} more; " + table.more, {{"", table.count - table.rows.size(), Unit::kInteger}});
      text_ += terminal_.Dim(FormatLine(rest, terminal_.unicode)) + "\n";
    }
    wants_gap_ = true;
  }

  void Gap() {
    if (wants_gap_) text_ += "\n";
    wants_gap_ = false;
  }

  const Terminal& terminal_;
  const bool wide_;
  bool wants_gap_ = false;
  std::string text_;
};

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

std::string RenderText(const Report& report, const Terminal& terminal, bool wide) {
  TextForm form(terminal, wide);
  form.Add(report);
  return std::move(form).text();
}

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
      const size_t lines = 1 + tables[i]->rows[rows[i]].below.size();
      if (lines > rows_left) continue;
      ++rows[i];
      rows_left -= lines;
      has_more = true;
    }
  }
  for (size_t i = 0; i < tables.size(); ++i) {
    tables[i]->rows.resize(rows[i]);
    if (rows[i] == 0) tables[i]->detail = Detail::kWide;
  }
}

std::string Render(const Report& report, Form form, const Terminal& terminal, bool wide) {
  switch (form) {
    case Form::kJson:
      return RenderJson(report);
    case Form::kMarkdown:
      return RenderMarkdown(report, wide);
    case Form::kCsv:
      return RenderCsv(report);
    case Form::kHtml:
      return RenderHtml(report, wide);
    case Form::kText:
      break;
  }
  return RenderText(report, terminal, wide);
}

}  // namespace heaprec::tools::render
