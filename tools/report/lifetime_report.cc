// heaprec live --lifetimes: how long objects live.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "tools/analysis/lifecycle_terms.h"
#include "tools/report/estimate_format.h"
#include "tools/report/group_estimates_format.h"
#include "tools/report/live_format.h"
#include "tools/report/live_report.h"
#include "tools/text/csv_field.h"
#include "tools/text/table.h"
#include "tools/text/terminal.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

struct LifeRow {
  std::string name;
  const LiveGroup* group;
  std::vector<Survival> seconds, collections;
  MedianLife median;
};

// nullopt: no collection was seen that tells.
std::optional<Estimate> DiesYoung(const LifeRow& row) {
  if (row.collections.empty()) return std::nullopt;
  const Estimate& first = row.collections.front().reached;
  return Estimate{1 - first.value, 1 - first.high, 1 - first.low};
}

// Of a group that is all dead before, none.
std::optional<Estimate> Promoted(const LifeRow& row, uint64_t collections) {
  if (row.collections.empty()) return std::nullopt;
  const Survival& last = row.collections.back();
  if (row.collections.size() >= collections) return row.collections[collections - 1].reached;
  return last.reached.value > 0 ? Estimate{last.reached.value, 0, last.reached.high} : last.reached;
}

LifeRow RowOf(std::string name, const LiveGroup& group, const LiveReport& report) {
  LifeRow row{std::move(name), &group, {}, {}, {}};
  // Steps are the same whatever the recording's length.
  row.seconds = LifeSteps::OfSeconds(UINT64_MAX / 4).CurveOf(group.seconds);
  if (WordsOf(report.live.stream()).is_collected && report.live.knows_collections()) {
    row.collections = LifeSteps::OfCollections(group.collections.steps().size()).CurveOf(group.collections);
  }
  row.median = LifeSteps::MedianOf(row.seconds);
  return row;
}

std::vector<LifeRow> RowsOf(const LiveTable& table, const LiveReport& report) {
  std::vector<LifeRow> rows;
  for (const LiveTable::Row& row : table.rows) {
    if (row.group.lives == 0) continue;
    rows.push_back(RowOf(table.grouping.NameOf(row.key, report.tree), row.group, report));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const LifeRow& a, const LifeRow& b) {
    return a.group->born != b.group->born ? a.group->born > b.group->born : a.name < b.name;
  });
  if (report.ranking.limit > 0 && rows.size() > report.ranking.limit) rows.resize(report.ranking.limit);
  return rows;
}

Cell MedianCell(const LifeRow& row) {
  if (!row.median.value) return {row.seconds.empty() ? "?" : "> " + AgeText(row.seconds.back().age), ""};
  return AgeCell({*row.median.value, row.median.low.value_or(*row.median.value), row.median.high.value_or(INFINITY)});
}

Cell KnownShareCell(const std::optional<Estimate>& share) { return share ? ShareCell(*share) : Cell{"?", ""}; }
json KnownAsJson(const std::optional<Estimate>& share) { return share ? AsJson(*share) : json(); }

// Ages, in seconds, where no collection sets the pace.
constexpr double kSoon = 1, kLate = 60;

std::vector<Column> ColumnsOf(const LiveReport& report) {
  const LiveWords words = WordsOf(report.live.stream());
  std::vector<Column> columns{
      {"allocated"}, {"samples", 2, 2}, {words.ended, 1, 1}, {"median life", Column::kStays, 5}};
  columns.push_back({words.is_collected ? "dies young" : "reach " + AgeText(kSoon), Column::kStays, 4});
  columns.push_back(
      {words.is_collected ? fmt::format("survives {}", report.live.question().promoted) : "reach " + AgeText(kLate), 6,
       3});
  return columns;
}

std::vector<Cell> CellsOf(const LifeRow& row, const LiveReport& report) {
  std::vector<Cell> cells{BytesCell({row.group->born, row.group->born, row.group->born}),
                          {Grouped(row.group->lives), ""},
                          {Grouped(row.group->died), ""},
                          MedianCell(row)};
  const bool is_collected = WordsOf(report.live.stream()).is_collected;
  cells.push_back(KnownShareCell(is_collected ? DiesYoung(row) : LifeSteps::ReachedAt(row.seconds, kSoon)));
  cells.push_back(KnownShareCell(is_collected ? Promoted(row, report.live.question().promoted)
                                              : LifeSteps::ReachedAt(row.seconds, kLate)));
  return cells;
}

std::string LifetimesHeadline(const LiveSurvey& live) {
  const LiveWords words = WordsOf(live.stream());
  const std::string sampled = fmt::format("{} sampled {}, followed ", Grouped(live.all().lives), words.things);
  if (!words.is_collected) {
    return fmt::format("{}until they were {}; reach: the share of the bytes that lives so long\n", sampled,
                       words.ended);
  }
  return fmt::format("{}over {}; dies young: is not there after its first collection\n", sampled,
                     CollectionsText(live));
}

std::string LifetimesText(const LiveReport& report) {
  const LiveSurvey& live = report.live;
  const Terminal terminal = Terminal::Of(STDOUT_FILENO);
  Text text;
  Append(text, LifetimesHeadline(live));
  for (const LiveTable& of : live.tables()) {
    Table table(ColumnsOf(report), of.grouping.Text());
    const std::vector<LifeRow> rows = RowsOf(of, report);
    table.Add(CellsOf(RowOf("[all]", live.all(), report), report), "[all]");
    for (const LifeRow& row : rows) table.Add(CellsOf(row, report), row.name);
    text.push_back('\n');
    table.AppendTo(terminal, &text);
    const size_t more = of.rows.size() - rows.size();
    if (more > 0) Append(text, terminal.Dim(fmt::format("... {} more; --limit 0 shows all", Grouped(more))) + "\n");
  }
  Append(text, "\n" + LiveBottomline(report));
  return fmt::to_string(text);
}

json AsJson(const LifeRow& row, uint64_t promoted) {
  return {{"name", row.name},
          {"samples", row.group->lives},
          {"died", row.group->died},
          {"allocated_bytes", row.group->born},
          {"median_life_seconds", AsJson(row.median)},
          {"dies_young", KnownAsJson(DiesYoung(row))},
          {"promoted", KnownAsJson(Promoted(row, promoted))},
          {"survival_by_seconds", AsJson(row.seconds, "seconds")},
          {"survival_by_collections", AsJson(row.collections, "collections")}};
}

json LifetimesJson(const LiveReport& report) {
  const uint64_t promoted = report.live.question().promoted;
  json document = LiveDocument(report, "heaprec.lifetimes/1");
  document["promoted_after"] = promoted;
  document["all"] = AsJson(RowOf("[all]", report.live.all(), report), promoted);
  document["tables"] = json::array();
  for (const LiveTable& table : report.live.tables()) {
    json rows = json::array();
    for (const LifeRow& row : RowsOf(table, report)) rows.push_back(AsJson(row, promoted));
    document["tables"].push_back({{"by", table.grouping.Text()}, {"count", table.rows.size()}, {"rows", rows}});
  }
  return document;
}

std::string LifetimesCsv(const LiveReport& report) {
  Text text;
  Append(text, "by,name,seconds,reached,reached_low,reached_high\n");
  for (const LiveTable& table : report.live.tables()) {
    for (const LifeRow& row : RowsOf(table, report)) {
      for (const Survival& one : row.seconds) {
        AppendCsvField(table.grouping.Text(), text);
        text.push_back(',');
        AppendCsvField(row.name, text);
        for (const double number : {one.age, one.reached.value, one.reached.low, one.reached.high}) {
          text.push_back(',');
          AppendJsonNumber(text, number);
        }
        text.push_back('\n');
      }
    }
  }
  return fmt::to_string(text);
}

std::string Dumped(const json& document) { return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string LifetimesForm(const LiveReport& report, LiveForm form) {
  if (form == LiveForm::kText) return LifetimesText(report);
  return form == LiveForm::kCsv ? LifetimesCsv(report) : Dumped(LifetimesJson(report));
}

}  // namespace heaprec::tools
