#include "tools/report/leaks_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/analysis/lifecycle_terms.h"
#include "tools/analysis/live/leak.h"
#include "tools/report/estimate_format.h"
#include "tools/report/live_format.h"
#include "tools/text/terminal.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

struct LeakRow {
  std::string name;
  const LiveGroup* group;
  Leak leak;
  LiveFigures figures;  // of what survived
};

// What leaks first, the fastest first.
std::vector<LeakRow> RowsOf(const LiveReport& report, double rate) {
  const LiveTable& table = report.live.tables().front();
  std::vector<const LiveGroup*> groups;
  std::vector<LeakRow> rows;
  for (const LiveTable::Row& row : table.rows) {
    if (row.group.growth.squares == 0) continue;
    groups.push_back(&row.group);
    rows.push_back({table.grouping.NameOf(row.key, report.tree), &row.group, {}, {}});
  }
  const std::vector<Leak> leaks = LeaksOf(groups, rate);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].leak = leaks[i];
    rows[i].figures = report.live.FiguresOf(rows[i].group->alive).figures;
  }
  std::stable_sort(rows.begin(), rows.end(), [](const LeakRow& a, const LeakRow& b) {
    if (a.leak.leaks != b.leak.leaks) return a.leak.leaks;
    return a.leak.all.per_second.value > b.leak.all.per_second.value;
  });
  return rows;
}

size_t LeaksIn(const std::vector<LeakRow>& rows) {
  return static_cast<size_t>(std::count_if(rows.begin(), rows.end(), [](const auto& row) { return row.leak.leaks; }));
}

// The most that may grow unseen, of any single row.
const LeakRow* LeastSure(const std::vector<LeakRow>& rows) {
  const LeakRow* least = nullptr;
  for (const LeakRow& row : rows) {
    const double high = row.leak.all.per_second.high;
    if (row.leak.leaks || !std::isfinite(high)) continue;
    if (least == nullptr || high > least->leak.all.per_second.high) least = &row;
  }
  return least;
}

std::string SentenceOf(const LeakRow& row, const LiveReport& report) {
  const LiveFigures& figures = row.figures;
  std::string text = fmt::format("{} of it alive in {} {}, {} old on average; grows by {}", BytesText(figures.bytes),
                                 CountText(figures.objects), WordsOf(report.live.stream()).things,
                                 AgeText(figures.mean_age_s.value), GrowthText(row.leak.all.per_second));
  if (std::isfinite(row.leak.late.per_second.high)) {
    text += fmt::format(", in the later half of the time by {}", GrowthText(row.leak.late.per_second));
  }
  if (!row.leak.leaks) return text + ": not shown to leak";
  const double an_hour = 3600 * row.leak.late.per_second.value;
  return text + fmt::format("; at that rate {} more in an hour", Bytes(std::max(an_hour, 0.0)));
}

std::string Span(const LiveReport& report) {
  const LiveSurvey& live = report.live;
  const std::string span = fmt::format("{} to {}", Duration(live.from_ns()), Duration(live.to_ns()));
  if (!WordsOf(live.stream()).is_collected) return span;
  return fmt::format("{}, {}", span, CollectionsText(live));
}

std::string Verdict(const LiveReport& report, const std::vector<LeakRow>& rows, double rate) {
  const std::string what = report.live.tables().front().grouping.Text();
  const std::string survived = SurvivedText(report.live.grown());
  const bool is_collected = WordsOf(report.live.stream()).is_collected;
  if (!report.live.knows_collections()) return fmt::format("it is unknown what leaks: {}", kNoCollections);
  if (report.live.followed() == 1 && report.live.instants().size() < 3) {
    if (!is_collected) return "no leak visible: the time is too short to tell what grows";
    return fmt::format("no leak visible: {} are too few to tell what grows from what was not yet collected",
                       CollectionsText(report.live));
  }
  const size_t leaks = LeaksIn(rows);
  const std::string of = fmt::format("of {} that hold bytes{}, at a false discovery rate of {:g} %",
                                     Grouped(rows.size()), survived, 100 * rate);
  if (leaks > 0) return fmt::format("{} {} by {}, {}", leaks, leaks == 1 ? "leak" : "leaks", what, of);
  std::string text = fmt::format("no leak visible by {}: none grows, {}", what, of);
  if (const LeakRow* least = LeastSure(rows)) {
    Text name;
    AppendPrintable(name, least->name);
    text += fmt::format("\nmost that may be hidden in one of them (95 %): {}/s, of {}",
                        Bytes(std::max(0.0, least->leak.all.per_second.high)), fmt::to_string(name));
  }
  return text;
}

void AppendRow(const LeakRow& row, const LiveReport& report, const Terminal& terminal, Text* into) {
  const std::string mark = row.leak.leaks ? terminal.In("31", "LEAK") : "   ~";
  Text name;
  AppendPrintable(name, row.name);
  Append(*into,
         fmt::format("\n  {}  {}\n        {}\n", mark, terminal.Bold(fmt::to_string(name)), SentenceOf(row, report)));
}

}  // namespace

std::string LeaksText(const LiveReport& report, const LeakRanking& ranking) {
  const Terminal terminal = Terminal::Of(STDOUT_FILENO);
  const std::vector<LeakRow> rows = RowsOf(report, ranking.rate);
  const size_t candidates = ranking.all ? rows.size() : LeaksIn(rows);
  const size_t shown = ranking.limit > 0 ? std::min(ranking.limit, candidates) : candidates;
  Text text;
  Append(text, fmt::format("{}\n{}\n", Verdict(report, rows, ranking.rate), Span(report)));
  for (size_t i = 0; i < shown; ++i) AppendRow(rows[i], report, terminal, &text);
  if (shown < candidates) {
    const std::string rest = fmt::format("... {} more; --limit 0 shows all", Grouped(candidates - shown));
    Append(text, terminal.Dim(rest) + "\n");
  }
  Append(text, "\n" + LiveBottomline(report));
  return fmt::to_string(text);
}

std::string LeaksJson(const LiveReport& report, const LeakRanking& ranking) {
  const std::vector<LeakRow> rows = RowsOf(report, ranking.rate);
  json document = LiveDocument(report, "heaprec.leaks/1");
  document["by"] = report.live.tables().front().grouping.Text();
  document["fdr"] = ranking.rate;
  document["count"] = rows.size();
  document["leaks"] = LeaksIn(rows);
  document["instants_ns"] = report.live.followed() == 1 ? json(report.live.instants()) : json::array();
  document["rows"] = json::array();
  for (const LeakRow& row : rows) {
    if (!row.leak.leaks && !ranking.all) break;
    if (ranking.limit > 0 && document["rows"].size() == ranking.limit) break;
    json one = AsJson(row.figures);
    one["name"] = row.name;
    one["leaks"] = row.leak.leaks;
    one["growth"] = AsJson(row.leak.all);
    one["late_growth"] = AsJson(row.leak.late);
    one["p"] = row.leak.p;
    one["q"] = row.leak.q;
    one["course_bytes"] = row.group->growth.bytes;
    document["rows"].push_back(std::move(one));
  }
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace heaprec::tools
