#include "tools/render/text_layout.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tools/render/renderers.h"
#include "tools/render/value_format.h"

namespace heaprec::tools::render {
namespace {

constexpr size_t kGap = 2;
// Columns are removed before names become shorter than this, or than half of the width; in a tree before any name
// becomes shorter.
constexpr size_t kShortestName = 40, kMinName = 12;
constexpr size_t kMinBar = 8;

// The values of a column, or its intervals: one strip of the table.
struct Strip {
  std::string heading;
  std::vector<std::string> cells;
  Detail detail = Detail::kAlways;
  bool is_interval = false, is_right = false, is_name = false, is_alert = false, is_prose = false;
  size_t width = 0;
  size_t column = 0;
  bool is_chart = false, is_bar = false;
};

struct FlatRow {
  const Row* row;
  std::string lead;  // branches of a tree
  size_t depth;
};

class Layout {
 public:
  Layout(const Table& table, const Terminal& terminal) : table_(table), terminal_(terminal) {
    AddRows(table.rows, "", 0);
    for (size_t column = 0; column < table.columns.size(); ++column) AddStrips(column);
    if (strips_.empty()) return;
    strips_.back().is_name = !strips_.back().is_right && !strips_.back().is_interval && !strips_.back().is_bar;
    for (Strip& strip : strips_) strip.width = WidthOfStrip(strip);
    ShortenOtherNames();
    if (terminal.width > 0) Fit();
  }

  std::string Text() const {
    std::string text = table_.is_continued ? "" : Headings();
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (table_.is_tree && i > 0 && rows_[i].depth == 0) text += "\n";
      text += LineOf(i);
    }
    return text;
  }

 private:
  // An only child is not indented, so that a chain of calls does not exceed the terminal's width; children of several
  // roots are.
  void AddRows(const std::vector<Row>& rows, const std::string& before, size_t depth) {
    const bool is_below_one_of_roots = depth == 1 && table_.is_tree && table_.rows.size() > 1;
    const bool is_chain = depth == 0 || (rows.size() == 1 && !is_below_one_of_roots);
    for (size_t i = 0; i < rows.size(); ++i) {
      const bool is_last = i + 1 == rows.size();
      const char* const branch = terminal_.unicode ? (is_last ? "└─ " : "├─ ") : (is_last ? "`- " : "|- ");
      const char* const beside = is_last ? "   " : terminal_.unicode ? "│  " : "|  ";
      rows_.push_back({&rows[i], (is_chain ? before : before + branch) + rows[i].lead, depth});
      AddRows(rows[i].children, is_chain ? before : before + beside, depth + 1);
    }
  }

  void AddStrips(size_t column) {
    const ColumnInfo& of = table_.columns[column];
    if (of.heading.empty() || of.detail == Detail::kJsonOnly || of.detail == Detail::kHtmlOnly) return;
    Strip values{
        of.heading, {}, of.detail, false, IsNumeric(of.unit), false, of.unit == Unit::kAlert, of.unit == Unit::kProse,
        0};
    Strip intervals{"95 %", {}, of.interval, true, false, false, false, false, 0};
    values.column = column;
    values.is_chart = of.unit == Unit::kSparkline;
    values.is_bar = of.unit == Unit::kBar;
    bool has_interval = false;
    for (const FlatRow& row : rows_) {
      CellText cell = FormatCell(*row.row, column, of.unit, terminal_.unicode);
      has_interval = has_interval || !cell.interval.empty();
      values.cells.push_back(std::move(cell.value));
      intervals.cells.push_back(std::move(cell.interval));
    }
    strips_.push_back(std::move(values));
    if (has_interval && of.interval != Detail::kJsonOnly) strips_.push_back(std::move(intervals));
  }

  // Shortens texts before the last column to a third of the width.
  void ShortenOtherNames() {
    const size_t room = terminal_.width / 3;
    for (Strip& strip : strips_) {
      const bool is_other_name = !strip.is_name && !strip.is_right && !strip.is_interval && !strip.is_bar;
      if (room == 0 || !is_other_name || strip.width <= room) continue;
      for (std::string& cell : strip.cells) cell = Shortened(cell, room, terminal_.unicode);
      strip.width = room;
    }
  }

  std::string NameOf(const Strip& strip, size_t row) const {
    const uint64_t left_out = rows_[row].row->left_out;
    return strip.cells[row] + (left_out > 0 ? " (+" + std::to_string(left_out) + ")" : "");
  }

  size_t WidthOfStrip(const Strip& strip) const {
    size_t width = std::max(WidthOf(strip.heading), strip.is_interval ? 0 : table_.columns[strip.column].min_width);
    for (size_t i = 0; i < rows_.size(); ++i) {
      const size_t name = strip.is_name ? WidthOf(rows_[i].lead) + WidthOf(NameOf(strip, i)) : WidthOf(strip.cells[i]);
      width = std::max(width, name);
    }
    return width;
  }

  static size_t GapBefore(const Strip& strip) { return strip.is_interval ? 1 : kGap; }

  // Terminal columns that everything except the text of the name takes.
  size_t Used() const {
    size_t used = 0;
    for (const Strip& strip : strips_) {
      used += (&strip == &strips_.front() ? 0 : GapBefore(strip)) + (strip.is_name ? 0 : strip.width);
    }
    return used;
  }

  // Removes intervals, then columns, from the right; in a tree also intervals that other tables keep.
  void Fit() {
    const size_t min_width = table_.columns[strips_.back().column].min_width;
    const size_t least = table_.is_tree ? SIZE_MAX : std::max({kShortestName, terminal_.width / 2, min_width});
    const size_t name = strips_.back().is_name ? std::min(strips_.back().width, least) : 0;
    LeaveOut(Detail::kWide, /*intervals=*/true, name);
    LeaveOut(Detail::kWide, /*intervals=*/false, name);
    if (table_.is_tree) LeaveOut(Detail::kAlways, /*intervals=*/true, name);
    FitBars(name);
  }

  // Shortens all bars by the same factor, so that they stay comparable. If they become too short, removes those on the
  // right.
  void FitBars(size_t name) {
    while (Used() + name > terminal_.width) {
      size_t count = 0, columns = 0, least = kMinBar;
      for (const Strip& strip : strips_) {
        if (!strip.is_bar) continue;
        ++count;
        columns += strip.width;
        least = std::max(least, WidthOf(strip.heading));
      }
      if (count == 0) return;
      const size_t others = Used() + name - columns, room = terminal_.width - std::min(terminal_.width, others);
      if (room / count >= least) return ScaleBars(room / count);
      const auto last = std::ranges::find(strips_.rbegin(), strips_.rend(), true, &Strip::is_bar);
      strips_.erase(last.base() - 1);
    }
  }

  void ScaleBars(size_t columns) {
    for (Strip& strip : strips_) {
      if (!strip.is_bar) continue;
      for (size_t i = 0; i < rows_.size(); ++i)
        strip.cells[i] = FormatBar(rows_[i].row->cells[strip.column], columns, terminal_.unicode);
      strip.width = columns;
    }
  }

  // Until there is space for a name of this width.
  void LeaveOut(Detail detail, bool intervals, size_t name) {
    for (size_t i = strips_.size(); i-- > 0 && Used() + name > terminal_.width;) {
      if (strips_[i].is_name || strips_[i].detail != detail || strips_[i].is_interval != intervals) continue;
      const bool has_interval = i + 1 < strips_.size() && strips_[i + 1].is_interval;
      strips_.erase(strips_.begin() + static_cast<ptrdiff_t>(i),
                    strips_.begin() + static_cast<ptrdiff_t>(i + (has_interval && !intervals ? 2 : 1)));
    }
  }

  static std::string Padded(const std::string& text, const Strip& strip) {
    const std::string pad(strip.width - std::min(strip.width, WidthOf(text)), ' ');
    return strip.is_right ? pad + text : text + pad;
  }

  std::string Headings() const {
    std::string line;
    for (const Strip& strip : strips_) {
      if (&strip != &strips_.front()) line.append(GapBefore(strip), ' ');
      line += strip.is_name ? strip.heading : Padded(strip.heading, strip);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return terminal_.Bold(line) + "\n";
  }

  std::string LineOf(size_t row) const {
    std::string line;
    size_t used = 0;
    for (const Strip& strip : strips_) {
      if (&strip != &strips_.front()) {
        line.append(GapBefore(strip), ' ');
        used += GapBefore(strip);
      }
      used += strip.is_name ? 0 : strip.width;
      if (strip.is_name && strip.is_chart) return line + ChartOf(strip, row, used);
      if (strip.is_name) {
        const std::string& lead = rows_[row].lead;
        line += terminal_.Dim(lead) + Fitted(NameOf(strip, row), used + WidthOf(lead), strip.is_prose);
      } else {
        line += strip.is_interval ? terminal_.Dim(Padded(strip.cells[row], strip)) : Coloured(strip, row);
      }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    line += "\n";
    const bool is_prose = !strips_.empty() && strips_.back().is_prose;
    const size_t indent = is_prose ? used : used + kGap;
    for (const std::string& below : rows_[row].row->below) {
      line += std::string(indent, ' ') + terminal_.Dim(Fitted(Printable(below), indent, /*is_prose=*/true)) + "\n";
    }
    return line;
  }

  // If there are few numbers, each gets up to four columns.
  std::string ChartOf(const Strip& strip, size_t row, size_t used) const {
    const Value& values = rows_[row].row->cells[strip.column];
    const size_t count = WidthOf(strip.cells[row]), room = Room(used);
    const size_t repeat = std::clamp<size_t>(room / std::max<size_t>(count, 1), 1, 4);
    std::string text;
    for (const std::string& line : FormatChart(values, rows_[row].row->height, repeat, terminal_.unicode)) {
      text += (text.empty() ? "" : std::string(used, ' ')) + line + "\n";
    }
    const std::string axis = AxisOf(rows_[row].row->below, repeat);
    return text + (axis.empty() ? "" : std::string(used, ' ') + terminal_.Dim(axis) + "\n");
  }

  // Labels below the values: each begins at its value; labels without space are omitted.
  static std::string AxisOf(const std::vector<std::string>& labels, size_t repeat) {
    std::string line;
    for (size_t i = 0; i < labels.size(); ++i) {
      const size_t at = i * repeat;
      const bool fits = at > line.size() && at + 1 + labels[i].size() <= labels.size() * repeat;
      if (i > 0 && !fits) continue;
      line.append(at - line.size(), ' ');
      line += "|" + labels[i] + " ";
    }
    if (!line.empty()) line.pop_back();
    return line;
  }

  // Fits text after `used` columns: shortens names, and continues sentences (and what is below names) on the next line.
  std::string Fitted(const std::string& text, size_t used, bool is_prose) const {
    const size_t room = Room(used);
    if (!is_prose || room == 0) return Shortened(text, room, terminal_.unicode);
    std::string lines;
    size_t width = 0;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find(' ', at), text.size());
      const std::string word = Shortened(text.substr(at, end - at), room, terminal_.unicode);
      if (width > 0 && width + 1 + WidthOf(word) > room) {
        lines += "\n" + std::string(used, ' ');
        width = 0;
      }
      lines += (width > 0 ? " " : "") + word;
      width += (width > 0 ? 1 : 0) + WidthOf(word);
      at = end + 1;
    }
    return lines;
  }

  std::string Coloured(const Strip& strip, size_t row) const {
    const std::string text = Padded(strip.cells[row], strip);
    return strip.is_alert ? terminal_.In("31", text) : text;
  }

  // A deep tree keeps some characters of each name. 0: no limit.
  size_t Room(size_t used) const {
    if (terminal_.width == 0) return 0;
    return std::max(kMinName, terminal_.width - std::min(used, terminal_.width));
  }

  const Table& table_;
  const Terminal& terminal_;
  std::vector<FlatRow> rows_;
  std::vector<Strip> strips_;
};

}  // namespace

std::string LayOut(const Table& table, const Terminal& terminal, bool wide) {
  Terminal unbounded = terminal;
  if (wide) unbounded.width = 0;
  return Layout(table, unbounded).Text();
}

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
