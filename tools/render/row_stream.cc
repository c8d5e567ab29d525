#include "tools/render/row_stream.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "tools/render/renderers.h"
#include "tools/render/text_layout.h"
#include "tools/render/value_format.h"
#include "tools/text/terminal.h"

namespace heaprec::tools::render {
namespace {

constexpr size_t kRowsKept = 1000;

}  // namespace

RowStream::RowStream(const std::vector<std::string>& names, const OutputOptions& options, Output* output)
    : options_(options), output_(*output) {
  for (const std::string& name : names) table_.columns.push_back({.name = name, .heading = Printable(name)});
}

void RowStream::Add(std::vector<Value> cells) {
  const Form form = options_.form();
  if (form == Form::kJson) return AddJson(std::move(cells));
  for (size_t i = 0; i < cells.size(); ++i) {
    ColumnInfo& column = table_.columns[i];
    if (cells[i].Number()) column.unit = Unit::kDigits;
    if (cells[i].is_unknown()) cells[i] = "";
    if (form == Form::kText) {
      column.min_width = std::max(column.min_width, WidthOf(FormatCell(cells[i], column.unit, true).value));
    }
  }
  table_.rows.emplace_back().cells = std::move(cells);
  if (table_.rows.size() >= kRowsKept && (form == Form::kText || form == Form::kCsv)) Flush();
}

void RowStream::AddJson(std::vector<Value> cells) {
  Object row;
  for (size_t i = 0; i < cells.size(); ++i) row.push_back({table_.columns[i].name, std::move(cells[i])});
  output_.Append((is_first_ ? "[\n" : ",\n") + JsonText(row));
  is_first_ = false;
  output_.Tick();
}

void RowStream::End() {
  if (options_.form() == Form::kJson) return output_.Append(is_first_ ? "[]\n" : "\n]\n");
  if (is_first_ || !table_.rows.empty()) Flush();
}

void RowStream::Flush() {
  table_.is_continued = !std::exchange(is_first_, false);
  table_.count = 0;
  Report report("heaprec.sql");
  report.Add(table_);
  const Terminal terminal = Terminal::Of(STDOUT_FILENO);
  output_.Append(options_.form() == Form::kText ? LayOut(table_, terminal, /*wide=*/true)
                                                : Render(report, options_.form(), terminal, options_.wide));
  table_.rows.clear();
  output_.Tick();
}

}  // namespace heaprec::tools::render
