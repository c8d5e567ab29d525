#include "tools/render/print.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "tools/render/text_layout.h"
#include "tools/render/value_format.h"
#include "tools/text/terminal.h"

namespace heaprec::tools::render {
namespace {

constexpr size_t kRowsKept = 1000;

}  // namespace

void OutputOptions::AddTo(Command& command, const std::vector<std::string>& others) {
  std::vector<std::string> words{"text", "json", "markdown", "csv", "html"};
  words.insert(words.end(), others.begin(), others.end());
  std::string help = "Output format: text (default)";
  for (size_t i = 1; i < words.size(); ++i) help += (i + 1 == words.size() ? " or " : ", ") + words[i];
  command.AddOption("--format", format, help).Value("FORMAT").OneOf(words);
  command.AddFlag("--json", json, "Short for --format json");
  command.AddFlag("--wide", wide, "Show all columns and intervals, however wide the terminal is");
}

void OutputOptions::AddLimitTo(Command& command, std::string text) {
  command.AddOption("--limit", limit, std::move(text)).Value("N");
}

Form OutputOptions::form() const {
  if (json || format == "json") return Form::kJson;
  if (format == "markdown") return Form::kMarkdown;
  if (format == "csv") return Form::kCsv;
  return format == "html" ? Form::kHtml : Form::kText;
}

ExitCode Print(const Report& report, const OutputOptions& options, ExitCode code) {
  Output output(STDOUT_FILENO);
  output.Append(Render(report, options.form(), Terminal::Of(STDOUT_FILENO), options.wide));
  output.Flush();
  const ExitCode written = output.Report("standard output");
  return written != ExitCode::kOk ? written : code;
}

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
