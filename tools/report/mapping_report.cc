#include "tools/report/mapping_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/report/estimate_format.h"
#include "tools/report/group_estimates_format.h"
#include "tools/report/live_format.h"
#include "tools/text/table.h"
#include "tools/text/terminal.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;
using Row = MappedSurvey::Row;

// By what may be touched, then by address space.
std::vector<Row> RankedRows(const MappedReport& report) {
  std::vector<Row> rows = report.mapped.Rows();
  std::ranges::stable_sort(rows, std::ranges::greater(), [](const Row& row) {
    return std::array{row.now.committed.bytes.value, row.now.reserved.bytes.value, row.mapped.bytes.value};
  });
  return rows;
}

std::string NameOf(const Row& row, const MappedReport& report) {
  return report.mapped.grouping().NameOf(row.key, report.tree);
}

// Of a stack, the innermost first, without its leaf.
std::vector<std::string> CallersOf(const Row& row, const MappedReport& report) {
  std::vector<std::string> callers;
  if (report.mapped.grouping().by() != By::kStack) return callers;
  for (auto node = report.tree.At(row.key).parent; node != CallTree::kRoot; node = report.tree.At(node).parent) {
    callers.emplace_back(report.tree.NameOf(node));
  }
  return callers;
}

json AsJson(const MappedSurvey::Now& now) {
  return {{"reserved", tools::AsJson(now.reserved.bytes)},
          {"committed", tools::AsJson(now.committed.bytes)},
          {"mappings", tools::AsJson(now.alive.objects)}};
}

}  // namespace

std::string MappedText(const MappedReport& report) {
  const Terminal terminal = Terminal::Of(STDOUT_FILENO);
  const std::vector<Row> rows = RankedRows(report);
  if (rows.empty() && report.survey.covered().lost == 0) return "";
  const size_t count = report.limit > 0 ? std::min(report.limit, rows.size()) : rows.size();
  Table table({{"reserved"}, {"committed"}, {"mappings", 7, 2}, {"mapped", 8}, {"calls", 4, 1}},
              report.mapped.grouping().Text());
  for (size_t i = 0; i < count; ++i) {
    const Row& row = rows[i];
    std::vector<std::string> below = CallersOf(row, report);
    if (below.size() > report.callers) below.resize(report.callers);
    for (std::string& line : below) line = "  " + line;
    table.Add({BytesCell(row.now.reserved.bytes), BytesCell(row.now.committed.bytes), CountCell(row.now.alive.objects),
               BytesCell(row.mapped.bytes), CountCell(row.mapped.objects)},
              NameOf(row, report), "", std::move(below));
  }
  const MappedSurvey::Now all = report.mapped.All();
  Text text;
  Append(text, fmt::format("\nmapped: {} reserved, {} committed, in {} mapping{}\n\n", BytesText(all.reserved.bytes),
                           BytesText(all.committed.bytes), CountText(all.alive.objects),
                           all.alive.objects.value == 1 ? "" : "s"));
  table.AppendTo(terminal, &text);
  if (count < rows.size()) {
    const std::string rest = fmt::format("... {} more; --limit 0 shows all", Grouped(rows.size() - count));
    Append(text, terminal.Dim(rest) + "\n");
  }
  Append(text, "\n" + report.survey.LossLine());
  return fmt::to_string(text);
}

json MappedAsJson(const MappedReport& report) {
  const std::vector<Row> rows = RankedRows(report);
  const size_t count = report.limit > 0 ? std::min(report.limit, rows.size()) : rows.size();
  json document = AsJson(report.mapped.All());
  document["at_ns"] = report.mapped.at_ns();
  document["mapped"] = tools::AsJson(report.survey.chosen(), report.survey.covered().seconds, Unit::kBytes);
  document["trustworthy"] = report.survey.doubts().empty();
  document["reasons"] = report.survey.doubts();
  document["count"] = rows.size();
  document["rows"] = json::array();
  for (size_t i = 0; i < count; ++i) {
    json row = AsJson(rows[i].now);
    row["name"] = NameOf(rows[i], report);
    row["mapped"] = tools::AsJson(rows[i].mapped, report.survey.covered().seconds, Unit::kBytes);
    if (const auto callers = CallersOf(rows[i], report); !callers.empty()) row["callers"] = callers;
    document["rows"].push_back(std::move(row));
  }
  return document;
}

}  // namespace heaprec::tools
