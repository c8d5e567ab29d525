// heaprec live: what is alive.
#include "tools/report/live_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tools/analysis/lifecycle_terms.h"
#include "tools/report/estimate_format.h"
#include "tools/report/group_estimates_format.h"
#include "tools/report/live_format.h"
#include "tools/text/csv_field.h"
#include "tools/text/table.h"
#include "tools/text/terminal.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

// A row with its figures.
struct AliveRow {
  std::string name;
  LiveRange range;
  Slope growth;
  const LiveTable::Row* of;
};

// What a row is sorted by: a range by its upper end. What is unknown comes last.
double SizeOf(const Estimate& estimate) { return IsRange(estimate) ? estimate.high : OrUnbounded(estimate).value; }

double Measure(const AliveRow& row, const std::string& sort) {
  const LiveFigures& figures = row.range.figures;
  if (sort == "objects") return SizeOf(figures.objects);
  if (sort == "growth") return row.growth.per_second.value;
  if (sort == "age") return OrUnbounded(figures.mean_age_s).value;
  if (sort == "survived") return OrUnbounded(figures.mean_survived).value;
  if (sort == "samples") return static_cast<double>(figures.samples);
  return sort == "name" ? 0 : SizeOf(figures.bytes);
}

// Those of which something is alive.
std::vector<AliveRow> RowsOf(const LiveTable& table, const LiveReport& report) {
  std::vector<AliveRow> rows;
  for (const LiveTable::Row& row : table.rows) {
    if (row.group.alive.empty()) continue;
    rows.push_back({table.grouping.NameOf(row.key, report.tree), report.live.FiguresOf(row.group.alive),
                    Growth::Of(row.group.growth), &row});
  }
  const std::string& sort = report.ranking.sort;
  std::stable_sort(rows.begin(), rows.end(), [&sort](const AliveRow& a, const AliveRow& b) {
    const double of_a = Measure(a, sort), of_b = Measure(b, sort);
    return of_a != of_b ? of_a > of_b : a.name < b.name;
  });
  return rows;
}

size_t Shown(size_t rows, const LiveRanking& ranking) {
  return ranking.limit > 0 ? std::min(rows, ranking.limit) : rows;
}

std::string InParentheses(const Cell& cell) {
  return cell.interval.empty() ? cell.value : fmt::format("{} ({})", cell.value, cell.interval);
}

std::string OldText(const LiveSurvey& live) {
  if (!live.knows_collections()) return "how much of it survived a collection is unknown\n";
  std::vector<Alive> old;
  std::copy_if(live.all().alive.begin(), live.all().alive.end(), std::back_inserter(old),
               [](const Alive& one) { return one.survived >= 1; });
  const LiveFigures figures = FiguresOf(old, live.total(), live.unit());
  return fmt::format("{} of it survived a collection\n", InParentheses(BytesCell(figures.bytes)));
}

std::string GrowthLine(const LiveSurvey& live) {
  const Slope growth = Growth::Of(live.all().growth);
  const bool is_collected = WordsOf(live.stream()).is_collected;
  if (!live.knows_collections()) return fmt::format("growth: unknown, {}\n", kNoCollections);
  if (!std::isfinite(growth.per_second.high)) {
    return is_collected ? "growth: too few collections, or samples that survived one, to tell\n"
                        : "growth: too few samples, or too short a time, to tell\n";
  }
  if (!is_collected) return fmt::format("it grows by {}\n", GrowthText(growth.per_second));
  return fmt::format("what survived {} grows by {}\n",
                     live.grown() == 1 ? std::string("a collection") : fmt::format("{} collections", live.grown()),
                     GrowthText(growth.per_second));
}

std::string Headline(const LiveReport& report) {
  const LiveSurvey& live = report.live;
  const LiveWords words = WordsOf(live.stream());
  if (!live.knows_collections() && live.survived() > 0) {
    return fmt::format("what survived {} collections is unknown: {}\n", live.survived(), kNoCollections);
  }
  const LiveFigures all = live.FiguresOf(live.all().alive).figures;
  std::string when = fmt::format("at {}", Duration(live.at_ns()));
  if (live.followed() != 1) when = fmt::format("at the ends of {} recordings", live.followed());
  if (IsUnknown(all.bytes)) {
    return fmt::format("{} sampled {} alive {}; how many bytes and {} they stand for is unknown\n",
                       Grouped(all.samples), words.things, when, words.things);
  }
  const std::string text =
      fmt::format("{} alive {}{} in {} {}, {} old on average\n", InParentheses(BytesCell(all.bytes)), when,
                  SurvivedText(live.survived()), InParentheses(CountCell(all.objects)), words.things,
                  AgeText(all.mean_age_s.value));
  return text + (words.is_collected && live.survived() == 0 ? OldText(live) : "") + GrowthLine(live);
}

void AppendTable(const LiveTable& table, const LiveReport& report, const Terminal& terminal, Text* into) {
  const std::vector<AliveRow> rows = RowsOf(table, report);
  const LiveWords words = WordsOf(report.live.stream());
  std::vector<Column> columns{{"bytes"}, {"share", Column::kStays, 1}, {words.things, 7, 2}, {"mean age", 6, 3}};
  if (words.is_collected) columns.push_back({"collections", 4, 0});
  columns.push_back({"growth", 8, 5});
  Table shown(columns, table.grouping.Text());
  const size_t count = Shown(rows.size(), report.ranking);
  for (size_t i = 0; i < count; ++i) {
    const LiveFigures& figures = rows[i].range.figures;
    std::vector<Cell> cells{BytesCell(figures.bytes), ShareCell(figures.share), CountCell(figures.objects),
                            AgeCell(figures.mean_age_s)};
    if (words.is_collected) cells.push_back(NumberCell(figures.mean_survived));
    cells.push_back(GrowthCell(rows[i].growth.per_second));
    shown.Add(std::move(cells), rows[i].name);
  }
  shown.AppendTo(terminal, into);
  if (count < rows.size()) {
    const std::string rest = fmt::format("... {} more; --limit 0 shows all", Grouped(rows.size() - count));
    Append(*into, terminal.Dim(rest) + "\n");
  }
}

std::string AliveText(const LiveReport& report) {
  const Terminal terminal = Terminal::Of(STDOUT_FILENO);
  Text text;
  Append(text, Headline(report));
  for (const LiveTable& table : report.live.tables()) {
    text.push_back('\n');
    AppendTable(table, report, terminal, &text);
  }
  text.push_back('\n');
  // Of an import each sample stands for itself: how much its recorder did not see is unknown.
  if (const double unit = report.live.unit(); unit > 0) {
    Append(text, fmt::format("unseen: up to {} of any group that has no sample here (95 %)\n",
                             Bytes(TotalWithin(0, 0, unit).high)));
  }
  Append(text, LiveBottomline(report));
  return fmt::to_string(text);
}

json RangeJson(const LiveRange& range, const LiveSurvey& live) {
  json document = AsJson(range.figures);
  if (!live.is_range()) return document;
  document["known_bytes"] = AsJson(range.known_bytes);
  document["known_objects"] = AsJson(range.known_objects);
  return document;
}

json AliveJson(const LiveReport& report) {
  const LiveSurvey& live = report.live;
  json document = LiveDocument(report, "heaprec.live/1");
  json all = RangeJson(live.FiguresOf(live.all().alive), live);
  all["growth"] = AsJson(Growth::Of(live.all().growth));
  document["alive"] = all;
  document["unseen"] = AsJson(TotalWithin(0, 0, live.unit()));
  document["instants_ns"] = live.followed() == 1 ? json(live.instants()) : json::array();
  document["course_bytes"] = live.all().growth.bytes;
  document["tables"] = json::array();
  for (const LiveTable& table : live.tables()) {
    const std::vector<AliveRow> rows = RowsOf(table, report);
    json of = {{"by", table.grouping.Text()}, {"count", rows.size()}, {"rows", json::array()}};
    for (size_t i = 0; i < Shown(rows.size(), report.ranking); ++i) {
      json row = RangeJson(rows[i].range, live);
      row["name"] = rows[i].name;
      row["growth"] = AsJson(rows[i].growth);
      row["course_bytes"] = rows[i].of->group.growth.bytes;
      of["rows"].push_back(std::move(row));
    }
    document["tables"].push_back(std::move(of));
  }
  return document;
}

void AppendNumbers(const Estimate& estimate, Text* into) {
  for (const double number : {estimate.value, estimate.low, estimate.high}) {
    into->push_back(',');
    if (std::isfinite(number)) AppendJsonNumber(*into, number);
  }
}

std::string AliveCsv(const LiveReport& report) {
  Text text;
  Append(text,
         "by,name,samples,bytes,bytes_low,bytes_high,objects,objects_low,objects_high,share,share_low,share_high,"
         "mean_age_seconds,mean_age_seconds_low,mean_age_seconds_high,mean_survived,mean_survived_low,"
         "mean_survived_high,growth,growth_low,growth_high\n");
  for (const LiveTable& table : report.live.tables()) {
    const std::vector<AliveRow> rows = RowsOf(table, report);
    for (size_t i = 0; i < Shown(rows.size(), report.ranking); ++i) {
      AppendCsvField(table.grouping.Text(), text);
      text.push_back(',');
      AppendCsvField(rows[i].name, text);
      text.push_back(',');
      const LiveFigures& figures = rows[i].range.figures;
      Append(text, figures.samples);
      for (const Estimate& one : {figures.bytes, figures.objects, figures.share, figures.mean_age_s,
                                  figures.mean_survived, rows[i].growth.per_second}) {
        AppendNumbers(one, &text);
      }
      text.push_back('\n');
    }
  }
  return fmt::to_string(text);
}

}  // namespace

const std::vector<std::string>& LiveSortKeys() {
  static const auto* keys =
      new std::vector<std::string>{"bytes", "objects", "growth", "age", "survived", "samples", "name"};
  return *keys;
}

std::string SurvivedText(uint64_t collections) {
  if (collections == 0) return "";
  return fmt::format(" that survived {} collection{}", collections, collections == 1 ? "" : "s");
}

std::string CollectionsText(const LiveSurvey& live) {
  if (!live.knows_collections()) return "an unknown number of collections";
  return fmt::format("{} {}collections", Grouped(live.collections()), live.of_majors() ? "major " : "");
}

json LiveDocument(const LiveReport& report, std::string_view schema) {
  const LiveSurvey& live = report.live;
  return {{"schema", schema},
          {"survey", report.survey.AsJson()},
          {"at_ns", live.at_ns()},
          {"from_ns", live.from_ns()},
          {"to_ns", live.to_ns()},
          {"start_epoch_ns", live.start_epoch_ns()},
          {"survived", live.survived()},
          {"growth_survived", live.grown()},
          {"collections", live.knows_collections() ? json(live.collections()) : json()},
          {"of_majors", live.of_majors()},
          {"not_followed", {{"samples", live.not_followed()}, {"bytes", live.not_followed_bytes()}}}};
}

namespace {

std::string MajorsText(const LiveSurvey& live) {
  const std::string text =
      fmt::format("only major collections of generational ZGC show which tracked objects are dead; {} of them did\n",
                  Grouped(live.collections()));
  if (!live.is_range()) return text;
  return text +
         "what was allocated since the last one may be garbage: ranges begin at what is known to be live; "
         "`jcmd PID GC.run` before the end narrows them\n";
}

}  // namespace

std::string LiveBottomline(const LiveReport& report) {
  std::string text;
  const LiveSurvey& live = report.live;
  if (live.of_majors()) text += MajorsText(live);
  if (live.not_followed() > 0) {
    text += fmt::format(
        "not followed, for want of room: {} samples, of them here {}: the others of their seconds stand for them\n",
        Grouped(live.not_followed()), Bytes(live.not_followed_bytes()));
  }
  if (live.without() > 0) {
    text += fmt::format("{} recordings without {} are left out\n", live.without(), WordsOf(live.stream()).option);
  }
  return text + report.survey.LossLine();
}

std::string AliveForm(const LiveReport& report, LiveForm form) {
  if (form == LiveForm::kText) return AliveText(report);
  if (form == LiveForm::kCsv) return AliveCsv(report);
  return AliveJson(report).dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace heaprec::tools
