#include "tools/native_form.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/render/estimate_text.h"
#include "tools/render/figures_text.h"
#include "tools/render/live_text.h"
#include "tools/render/table.h"
#include "tools/render/terminal.h"
#include "tools/render/text.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;
using Row = NativeSurvey::Row;

double Measure(const Row& row, bool by_live) { return by_live ? row.live.bytes.value : row.allocated.bytes.value; }

std::vector<Row> RankedRows(const NativeReport& report) {
  std::vector<Row> rows = report.native.Rows();
  std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) {
    const double of_a = Measure(a, report.by_live), of_b = Measure(b, report.by_live);
    return of_a != of_b ? of_a > of_b : Measure(a, !report.by_live) > Measure(b, !report.by_live);
  });
  return rows;
}

std::string NameOf(const Row& row, const NativeReport& report) {
  return report.native.grouping().NameOf(row.key, report.tree);
}

// Of a stack, the innermost first, without its leaf.
std::vector<std::string> CallersOf(const Row& row, const NativeReport& report) {
  std::vector<std::string> callers;
  if (report.native.grouping().by() != By::kStack) return callers;
  for (auto node = report.tree.At(row.key).parent; node != CallTree::kRoot; node = report.tree.At(node).parent) {
    callers.emplace_back(report.tree.NameOf(node));
  }
  return callers;
}

std::string AgeOf(const NativeReport& report) {
  return report.least_age_ns > 0 ? fmt::format(" for {} or longer", Duration(report.least_age_ns)) : "";
}

std::string HeadlineOf(const NativeReport& report) {
  const LiveFigures alive = report.native.AllAlive();
  const Figures& all = report.survey.chosen();
  const auto seconds_ns = static_cast<uint64_t>(report.survey.covered().seconds * 1e9);
  std::string text = fmt::format("{} alive{} in {} blocks, of {} allocated in {} blocks in {}\n",
                                 BytesText(alive.bytes), AgeOf(report), CountText(alive.objects), BytesText(all.bytes),
                                 CountText(all.objects), Duration(seconds_ns));
  const Slope growth = report.native.AllGrowth();
  if (std::isfinite(growth.per_second.high)) text += fmt::format("it grows by {}\n", GrowthText(growth.per_second));
  return text;
}

void AddRow(const Row& row, const NativeReport& report, Table* into) {
  std::vector<std::string> below = CallersOf(row, report);
  if (below.size() > report.callers) below.resize(report.callers);
  for (std::string& line : below) line = "  " + line;
  into->Add({BytesCell(row.live.bytes), CountCell(row.live.objects), AgeCell(row.live.mean_age_s),
             GrowthCell(row.growth.per_second), BytesCell(row.allocated.bytes), CountCell(row.allocated.objects)},
            NameOf(row, report), "", std::move(below));
}

}  // namespace

std::string NativeText(const NativeReport& report) {
  const Terminal terminal = Terminal::Of(STDOUT_FILENO);
  const std::vector<Row> rows = RankedRows(report);
  const size_t count = report.limit > 0 ? std::min(report.limit, rows.size()) : rows.size();
  Table table({{report.least_age_ns > 0 ? "leaked" : "live"},
               {"blocks", 7, 2},
               {"mean age", 6, 3},
               {"growth", 8, 5},
               {"allocated"},
               {"blocks", 4, 1}},
              report.native.grouping().Text());
  for (size_t i = 0; i < count; ++i) AddRow(rows[i], report, &table);
  Text text;
  Append(text, HeadlineOf(report) + "\n");
  table.AppendTo(terminal, &text);
  if (count < rows.size()) {
    const std::string rest = fmt::format("... {} more; --limit 0 shows all", Grouped(rows.size() - count));
    Append(text, terminal.Dim(rest) + "\n");
  }
  Append(text, fmt::format("\nunseen: up to {} of any {} that has no sample here (95 %)\n{}",
                           Bytes(report.survey.unseen().bytes.high), report.native.grouping().Text(),
                           report.survey.LossLine()));
  return fmt::to_string(text);
}

std::string NativeJson(const NativeReport& report) {
  const std::vector<Row> rows = RankedRows(report);
  const double seconds = report.survey.covered().seconds;
  json live = AsJson(report.native.AllAlive());
  live["growth"] = AsJson(report.native.AllGrowth());
  json document = {{"schema", "heaprec.native_sampled/1"},
                   {"survey", report.survey.AsJson()},
                   {"exact", false},
                   {"at_ns", report.native.live().at_ns()},
                   {"least_age_ns", report.least_age_ns},
                   {"by", report.native.grouping().Text()},
                   {"live", live},
                   {"allocated", AsJson(report.survey.chosen(), seconds, Unit::kBytes)},
                   {"count", rows.size()},
                   {"rows", json::array()}};
  const size_t count = report.limit > 0 ? std::min(report.limit, rows.size()) : rows.size();
  for (size_t i = 0; i < count; ++i) {
    json row = {{"name", NameOf(rows[i], report)},
                {"live", AsJson(rows[i].live)},
                {"allocated", AsJson(rows[i].allocated, seconds, Unit::kBytes)}};
    row["live"]["growth"] = AsJson(rows[i].growth);
    if (const auto callers = CallersOf(rows[i], report); !callers.empty()) row["callers"] = callers;
    document["rows"].push_back(std::move(row));
  }
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace heaprec::tools
