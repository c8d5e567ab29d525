#include "tools/report/census_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/report/estimate_format.h"
#include "tools/report/group_estimates_format.h"
#include "tools/text/table.h"
#include "tools/text/terminal.h"

namespace heaprec::tools {
namespace {

using format::CensusSum;
using nlohmann::json;

// Of a group, now and before.
struct Shown {
  std::string name;
  CensusGroup now, before;
};

const char* ByText(CensusBy by) {
  return by == CensusBy::kClass ? "class" : by == CensusBy::kThread ? "thread" : "second";
}

std::vector<Shown> RowsOf(const CensusSurvey& survey, const CensusSurvey* before, const std::string& sort) {
  std::map<std::string, Shown> rows;
  for (CensusTable::Row& row : survey.table().Rows()) rows[row.name].now = row.sums;
  if (before != nullptr) {
    for (CensusTable::Row& row : before->table().Rows()) rows[row.name].before = row.sums;
  }
  std::vector<Shown> shown;
  for (auto& [name, row] : rows) shown.push_back({name, row.now, row.before});
  if (sort == "name" || survey.by() == CensusBy::kTime) return shown;
  std::ranges::stable_sort(shown, std::greater<>(), [&](const Shown& row) {
    const auto key = [&](const CensusGroup& of) { return (sort == "objects" ? of.objects : of.bytes).estimate(); };
    return before != nullptr ? std::abs(key(row.now) - key(row.before)) : key(row.now);
  });
  return shown;
}

size_t LimitOf(size_t rows, const CensusRanking& ranking) {
  return ranking.limit > 0 ? std::min(rows, ranking.limit) : rows;
}

// Of a group of a survey.
struct Estimates {
  Estimates(const CensusGroup& of, const CensusSurvey& survey)
      : bytes(EstimateOf(of.bytes, of.walks, survey.typical_weight())),
        objects(EstimateOf(of.objects, of.walks, survey.typical_weight())) {}
  Estimate bytes, objects;
};

Cell ObjectsCell(const Estimate& objects) {
  if (objects.low < objects.high) return CountCell(objects);
  return {Grouped(static_cast<uint64_t>(std::llround(objects.value))), ""};
}

std::string PercentText(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : std::string("-");
}

// The two are independent.
Estimate DifferenceOf(const Estimate& now, const Estimate& before) {
  const double value = now.value - before.value;
  return {value, value - std::hypot(now.value - now.low, before.high - before.value),
          value + std::hypot(now.high - now.value, before.value - before.low)};
}

std::string Signed(double value, const std::string& magnitude) {
  return (value < 0 ? "-" : value > 0 ? "+" : "") + magnitude;
}

Cell DifferenceCell(const Estimate& difference, bool bytes) {
  const auto text = [bytes](double value) {
    const double size = std::abs(value);
    if (std::isinf(size)) return std::string("?");
    return Signed(value, bytes ? Bytes(size) : Grouped(static_cast<uint64_t>(std::llround(size))));
  };
  if (difference.low == difference.high) return {text(difference.value), ""};
  return {text(difference.value), fmt::format("{} to {}", text(difference.low), text(difference.high))};
}

std::string Headline(const CensusSurvey& survey) {
  const CensusGroup all = survey.total().sums;
  const Estimates estimates(all, survey);
  const std::string what = fmt::format("{} in {} objects", BytesText(estimates.bytes), CountText(estimates.objects));
  if (survey.is_exact()) return what + ", each counted\n";
  const bool drawn = all.bytes.variance > 0;
  return what + (drawn ? fmt::format(", estimated from {} walks\n", Grouped(all.walks))
                       : std::string(", counted; some are missing, as the last line says\n"));
}

void AppendPlain(const std::vector<Shown>& rows, const CensusSurvey& survey, size_t count, const Terminal& terminal,
                 Text* into) {
  const double whole = survey.total().sums.bytes.estimate();
  Table table({{"bytes"}, {"share", 8}, {"objects", Column::kStays, 2}, {"mean size", 5}}, ByText(survey.by()));
  for (size_t i = 0; i < count; ++i) {
    const CensusGroup& of = rows[i].now;
    const Estimates estimates(of, survey);
    const double objects = of.objects.estimate();
    table.Add({BytesCell(estimates.bytes),
               {PercentText(of.bytes.estimate(), whole), ""},
               ObjectsCell(estimates.objects),
               {objects > 0 ? Bytes(of.bytes.estimate() / objects) : "-", ""}},
              rows[i].name);
  }
  table.AppendTo(terminal, into);
}

void AppendCompared(const std::vector<Shown>& rows, const CensusSurvey& survey, const CensusSurvey& earlier,
                    size_t count, const Terminal& terminal, Text* into) {
  Table table({{"bytes", Column::kStays, 3}, {"objects", 8, 2}, {"before", 6, 1}, {"after", 7, 1}},
              ByText(survey.by()));
  for (size_t i = 0; i < count; ++i) {
    const Estimates now(rows[i].now, survey), before(rows[i].before, earlier);
    table.Add({DifferenceCell(DifferenceOf(now.bytes, before.bytes), true),
               DifferenceCell(DifferenceOf(now.objects, before.objects), false), BytesCell(before.bytes),
               BytesCell(now.bytes)},
              rows[i].name);
  }
  table.AppendTo(terminal, into);
}

json AsJson(const CensusGroup& of, const CensusSurvey& survey) {
  const Estimates estimates(of, survey);
  return {{"bytes", AsJson(estimates.bytes)}, {"objects", AsJson(estimates.objects)}, {"walks", of.walks}};
}

json OriginAsJson(const CensusOrigin& origin) {
  const format::CensusBooks& books = origin.books;
  return {{"file", origin.file},
          {"recording_id", origin.recording_id},
          {"mode", origin.mode == format::CensusMode::kAll ? "all" : "drawn"},
          {"per_second", origin.mode == format::CensusMode::kAll ? json() : json(origin.per_second)},
          {"tlabs", books.tlabs},
          {"tlab_bytes", books.tlab_bytes},
          {"outside", books.outside},
          {"outside_bytes", books.outside_bytes},
          {"walks", books.walks},
          {"walked_bytes", books.walked_bytes},
          {"broken", books.broken},
          {"broken_bytes", books.broken_bytes},
          {"lost", books.lost},
          {"lost_bytes", books.lost_bytes},
          {"over_budget", books.over_budget},
          {"over_budget_bytes", books.over_budget_bytes},
          {"unseen", books.unseen},
          {"unseen_bytes", books.unseen_bytes}};
}

}  // namespace

std::string CensusText(const CensusSurvey& survey, const CensusSurvey* before, const CensusRanking& ranking) {
  const Terminal terminal = Terminal::Of(STDOUT_FILENO);
  const std::vector<Shown> rows = RowsOf(survey, before, ranking.sort);
  const size_t count = LimitOf(rows.size(), ranking);
  Text text;
  if (before != nullptr) Append(text, "before: " + Headline(*before) + "after:  ");
  Append(text, Headline(survey) + "\n");
  before != nullptr ? AppendCompared(rows, survey, *before, count, terminal, &text)
                    : AppendPlain(rows, survey, count, terminal, &text);
  if (count < rows.size()) {
    const std::string rest = fmt::format("... {} more; --limit 0 shows all", Grouped(rows.size() - count));
    Append(text, terminal.Dim(rest) + "\n");
  }
  Append(text, "\n" + (before != nullptr ? before->LossLine() : std::string()) + survey.LossLine());
  return fmt::to_string(text);
}

std::string CensusJson(const CensusSurvey& survey, const CensusSurvey* before, const CensusRanking& ranking) {
  const std::vector<Shown> rows = RowsOf(survey, before, ranking.sort);
  json document = {{"schema", "heaprec.census/1"},
                   {"recordings", json::array()},
                   {"exact", survey.is_exact()},
                   {"by", ByText(survey.by())},
                   {"total", AsJson(survey.total().sums, survey)},
                   {"count", rows.size()},
                   {"rows", json::array()}};
  for (const CensusOrigin& origin : survey.origins()) document["recordings"].push_back(OriginAsJson(origin));
  if (before != nullptr) {
    document["before"] = {{"recordings", json::array()}, {"total", AsJson(before->total().sums, *before)}};
    for (const CensusOrigin& origin : before->origins()) {
      document["before"]["recordings"].push_back(OriginAsJson(origin));
    }
  }
  for (size_t i = 0; i < LimitOf(rows.size(), ranking); ++i) {
    json row = AsJson(rows[i].now, survey);
    row["name"] = rows[i].name;
    if (before != nullptr) {
      const Estimates now(rows[i].now, survey), earlier(rows[i].before, *before);
      row["before"] = AsJson(rows[i].before, *before);
      row["bytes_difference"] = AsJson(DifferenceOf(now.bytes, earlier.bytes));
      row["objects_difference"] = AsJson(DifferenceOf(now.objects, earlier.objects));
    }
    document["rows"].push_back(std::move(row));
  }
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace heaprec::tools
