#include "tools/text/table.h"

#include <algorithm>
#include <climits>

namespace heaprec::tools {
namespace {

constexpr size_t kGap = 2;       // between columns
constexpr size_t kMinName = 28;  // columns go before names become shorter than this

void Pad(size_t columns, Text* into) {
  for (; columns > 0; --columns) into->push_back(' ');
}

std::string Printable(std::string_view text) {
  Text printable;
  AppendPrintable(printable, text);
  return fmt::to_string(printable);
}

}  // namespace

void Table::Add(std::vector<Cell> cells, std::string name, std::string lead, std::vector<std::string> below) {
  for (std::string& line : below) line = Printable(line);
  rows_.push_back({std::move(cells), Printable(name), std::move(lead), std::move(below)});
}

std::vector<Table::Widths> Table::Natural() const {
  std::vector<Widths> widths(columns_.size());
  for (size_t i = 0; i < columns_.size(); ++i) {
    widths[i].value = WidthOf(columns_[i].title);
    for (const Row& row : rows_) {
      widths[i].value = std::max(widths[i].value, WidthOf(row.cells[i].value));
      widths[i].interval = std::max(widths[i].interval, WidthOf(row.cells[i].interval));
    }
  }
  return widths;
}

size_t Table::Sum(const std::vector<Widths>& widths) {
  size_t sum = 0;
  for (const Widths& of : widths) sum += of.All() > 0 ? of.All() + kGap : 0;
  return sum;
}

size_t Table::LongestName() const {
  size_t longest = WidthOf(name_title_);
  for (const Row& row : rows_) longest = std::max(longest, WidthOf(row.lead) + WidthOf(row.name));
  return longest;
}

size_t Table::RoomForNames(size_t width) const {
  return std::min(LongestName(), keep_ == Keep::kNames ? width * 3 / 4 : std::max(kMinName, width / 3));
}

int Table::PatienceOf(const Column& column, bool has_interval) const {
  if (!has_interval) return column.patience;
  // Below that of any column.
  return keep_ == Keep::kNames ? column.patience_of_interval - Column::kStays - 1 : column.patience_of_interval;
}

// Leaves out what has the least patience until names have the room they need, or nothing more may go.
void Table::Fit(size_t width, std::vector<Widths>* widths) const {
  const size_t name = RoomForNames(width);
  while (Sum(*widths) + name > width) {
    int least = Column::kStays;
    size_t* which = nullptr;
    for (size_t i = 0; i < columns_.size(); ++i) {
      Widths& of = (*widths)[i];
      const bool has_interval = of.interval > 0;
      const int patience = PatienceOf(columns_[i], has_interval);
      if (of.All() == 0 || patience >= least) continue;
      least = patience;
      which = has_interval ? &of.interval : &of.value;
    }
    if (which == nullptr) return;
    *which = 0;
  }
}

void Table::AppendTitles(const std::vector<Widths>& widths, const Terminal& terminal, Text* into) const {
  std::string line;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (widths[i].All() == 0) continue;
    line.append(widths[i].value - WidthOf(columns_[i].title), ' ').append(columns_[i].title);
    line.append(widths[i].All() - widths[i].value + kGap, ' ');
  }
  Append(*into, terminal.Bold(line + name_title_));
  into->push_back('\n');
}

void Table::AppendRow(const Row& row, const std::vector<Widths>& widths, const Terminal& terminal, Text* into) const {
  size_t used = 0;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Widths& of = widths[i];
    if (of.All() == 0) continue;
    const Cell& cell = row.cells[i];
    Pad(of.value - WidthOf(cell.value), into);
    Append(*into, cell.value);
    if (of.interval > 0) {
      into->push_back(' ');
      Append(*into, terminal.Dim(cell.interval));
      Pad(of.interval - WidthOf(cell.interval), into);
    }
    Pad(kGap, into);
    used += of.All() + kGap;
  }
  const size_t lead = used + WidthOf(row.lead);
  // A tree that is deeper than the terminal is wide keeps a little of each name.
  const size_t room = terminal.width == 0 ? 0 : std::max<size_t>(terminal.width - std::min(lead, terminal.width), 12);
  Append(*into, terminal.Dim(row.lead));
  Append(*into, Shortened(row.name, room, terminal.unicode));
  into->push_back('\n');
  for (const std::string& line : row.below) {
    Pad(used + kGap, into);
    Append(*into, terminal.Dim(Shortened(line, room > kGap ? room - kGap : 0, terminal.unicode)));
    into->push_back('\n');
  }
}

void Table::AppendTo(const Terminal& terminal, Text* into) const {
  std::vector<Widths> widths = Natural();
  if (terminal.width > 0) Fit(terminal.width, &widths);
  AppendTitles(widths, terminal, into);
  for (const Row& row : rows_) AppendRow(row, widths, terminal, into);
}

}  // namespace heaprec::tools
