#include "tools/report/native_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/report/estimate_format.h"
#include "tools/report/group_estimates_format.h"
#include "tools/report/live_format.h"
#include "tools/text/table.h"
#include "tools/text/terminal.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;
using Row = NativeSurvey::Row;

double Measure(const Row& row, bool by_live) { return by_live ? row.live.bytes.value : row.allocated.bytes.value; }

bool IsOfLeaks(const NativeReport& report) { return report.least_age_ns > 0; }

// Of leaks, those that have something.
std::vector<Row> RankedRows(const NativeReport& report) {
  std::vector<Row> rows = report.native.Rows();
  if (IsOfLeaks(report)) std::erase_if(rows, [](const Row& row) { return row.live.bytes.value == 0; });
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
  if (std::isfinite(growth.per_second.high)) {
    text +=
        fmt::format("{} grows by {}\n", IsOfLeaks(report) ? "all that is alive" : "it", GrowthText(growth.per_second));
  }
  return text;
}

std::vector<std::string> LinesBelow(const Row& row, const NativeReport& report) {
  std::vector<std::string> below = CallersOf(row, report);
  if (below.size() > report.callers) below.resize(report.callers);
  for (std::string& line : below) line = "  " + line;
  return below;
}

Table LiveTableOf(const std::vector<Row>& rows, const NativeReport& report) {
  Table table({{"live"}, {"blocks", 7, 2}, {"mean age", 6, 3}, {"growth", 8, 5}, {"allocated"}, {"blocks", 4, 1}},
              report.native.grouping().Text());
  for (const Row& row : rows) {
    table.Add({BytesCell(row.live.bytes), CountCell(row.live.objects), AgeCell(row.live.mean_age_s),
               GrowthCell(row.growth.per_second), BytesCell(row.allocated.bytes), CountCell(row.allocated.objects)},
              NameOf(row, report), "", LinesBelow(row, report));
  }
  return table;
}

double LongestSeconds(const NativeReport& report) {
  return static_cast<double>(report.native.live().to_ns() - report.native.live().from_ns()) * 1e-9;
}

Cell ReachedCell(const Row& row, double age_s) {
  const auto reached = LifeSteps::ReachedAt(row.survival, age_s);
  return reached ? ShareCell(*reached) : Cell{"?", ""};
}

Table LeakTableOf(const std::vector<Row>& rows, const NativeReport& report, const Terminal& terminal) {
  const double age_s = static_cast<double>(report.least_age_ns) * 1e-9;
  Table table({{"leaked"},
               {"blocks", 6, 2},
               {"mean age", 5, 3},
               {"growth", 8, 5},
               {"allocated", 4, 1},
               {"reach " + AgeText(age_s), 9, 4},
               {"survival", 7}},
              report.native.grouping().Text());
  for (const Row& row : rows) {
    table.Add({BytesCell(row.live.bytes),
               CountCell(row.live.objects),
               AgeCell(row.live.mean_age_s),
               GrowthCell(row.growth.per_second),
               BytesCell(row.allocated.bytes),
               ReachedCell(row, age_s),
               {SurvivalLine(row.survival, LongestSeconds(report), terminal.unicode), ""}},
              NameOf(row, report), "", LinesBelow(row, report));
  }
  return table;
}

std::string LegendOf(const NativeReport& report) {
  if (!IsOfLeaks(report)) return "";
  return fmt::format("survival: the share of what was allocated that lives for 10 ms ... {}\n",
                     AgeText(LongestSeconds(report)));
}

}  // namespace

std::string NativeText(const NativeReport& report) {
  const Terminal terminal = Terminal::Of(STDOUT_FILENO);
  std::vector<Row> rows = RankedRows(report);
  const size_t all = rows.size();
  if (report.limit > 0 && all > report.limit) rows.resize(report.limit);
  const Table table = IsOfLeaks(report) ? LeakTableOf(rows, report, terminal) : LiveTableOf(rows, report);
  Text text;
  Append(text, HeadlineOf(report) + "\n");
  if (rows.empty()) {
    Append(text, IsOfLeaks(report) ? "nothing is so old\n" : "there is no sample in it\n");
  } else {
    table.AppendTo(terminal, &text);
  }
  if (rows.size() < all) {
    Append(text, terminal.Dim(fmt::format("... {} more; --limit 0 shows all", Grouped(all - rows.size()))) + "\n");
  }
  Append(text, "\n" + (rows.empty() ? "" : LegendOf(report)));
  if (!report.native.refusal().empty()) {
    AppendPrintable(text, report.native.refusal());
    text.push_back('\n');
  }
  Append(text, fmt::format("unseen: up to {} of any {} that has no sample here (95 %)\n{}",
                           Bytes(report.survey.unseen().bytes.high), report.native.grouping().Text(),
                           report.survey.LossLine()));
  return fmt::to_string(text);
}

std::string NativeJson(const NativeReport& report, const json& mapped) {
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
  if (IsOfLeaks(report)) document["survival_by_seconds"] = AsJson(report.native.AllSurvival(), "seconds");
  if (!mapped.is_null()) document["mapped"] = mapped;
  if (!report.native.refusal().empty()) document["refusal"] = report.native.refusal();
  const size_t count = report.limit > 0 ? std::min(report.limit, rows.size()) : rows.size();
  for (size_t i = 0; i < count; ++i) {
    json row = {{"name", NameOf(rows[i], report)},
                {"live", AsJson(rows[i].live)},
                {"allocated", AsJson(rows[i].allocated, seconds, Unit::kBytes)}};
    row["live"]["growth"] = AsJson(rows[i].growth);
    if (IsOfLeaks(report)) row["survival_by_seconds"] = AsJson(rows[i].survival, "seconds");
    if (const auto callers = CallersOf(rows[i], report); !callers.empty()) row["callers"] = callers;
    document["rows"].push_back(std::move(row));
  }
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace heaprec::tools
