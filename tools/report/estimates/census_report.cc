#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <sstream>

#include "tools/report/estimates/reports.h"

namespace heaprec::tools {

using namespace render;

namespace {

// Estimates of a group.
struct CensusEstimates {
  CensusEstimates() = default;
  CensusEstimates(const CensusGroup& of, const CensusScan& scan)
      : bytes(scan.estimator().Bytes(of)), objects(scan.estimator().Objects(of)), walks(of.walks) {}
  Estimate bytes, objects;
  uint64_t walks = 0;
  // Unknown if only a range is known.
  Value MeanSize() const {
    return std::isfinite(bytes.value) && objects.value > 0 ? Value(bytes.value / objects.value) : Value();
  }
};

struct CensusRow {
  std::string name;
  CensusGroup now_sums, before_sums;
  CensusEstimates now, before;
  double share = 0;  // of the bytes; NaN: unknown
};

const char* ByText(CensusBy by) {
  return by == CensusBy::kClass ? "class" : by == CensusBy::kThread ? "thread" : "second";
}

std::vector<CensusRow> RowsOf(const CensusScan& scan, const CensusScan* before, const std::string& sort) {
  std::map<std::string, CensusRow> by_name;
  for (CensusTable::Row& row : scan.table().Rows()) by_name[row.name].now_sums = row.sums;
  if (before != nullptr) {
    for (CensusTable::Row& row : before->table().Rows()) by_name[row.name].before_sums = row.sums;
  }
  const double whole = scan.TotalBytes().value;
  std::vector<CensusRow> rows;
  for (auto& [name, row] : by_name) {
    row.name = name;
    row.now = CensusEstimates(row.now_sums, scan);
    if (before != nullptr) row.before = CensusEstimates(row.before_sums, *before);
    row.share = whole > 0 ? row.now.bytes.value / whole : 0;
    rows.push_back(std::move(row));
  }
  if (sort == "name" || scan.by() == CensusBy::kTime) return rows;
  std::ranges::stable_sort(rows, std::greater<>(), [&](const CensusRow& row) {
    const auto key = [&](const CensusEstimates& of, const CensusGroup& sums) {
      const double value = (sort == "objects" ? of.objects : of.bytes).value;
      return std::isfinite(value) ? value : (sort == "objects" ? sums.objects : sums.bytes).estimate();
    };
    const double now = key(row.now, row.now_sums);
    return before != nullptr ? std::abs(now - key(row.before, row.before_sums)) : now;
  });
  return rows;
}

// The two estimates are independent.
Estimate DifferenceOf(const Estimate& now, const Estimate& before) {
  const double value = now.value - before.value;
  return {value, value - std::hypot(now.value - now.low, before.high - before.value),
          value + std::hypot(now.high - now.value, before.value - before.low)};
}

// "1.2 MiB in 3,000 objects, each counted"
Line Headline(const CensusScan& scan, const std::string& prefix, const std::string& path) {
  const CensusGroup all = scan.total().sums;
  const char* const how = scan.is_exact()          ? ", each counted"
                          : scan.is_counted()      ? "; bytes counted, objects from {} walk(s)"
                          : all.bytes.variance > 0 ? ", estimated from {} walk(s)"
                          : scan.ChoosesAll()      ? ", counted; some are missing, as the last line says"
                                                   : ", counted; some may be missing, as the last line says";
  return Sentence(prefix + "{} in {} object(s)" + how, {{path + "bytes", scan.TotalBytes(), Unit::kBytes},
                                                        {path + "objects", scan.estimator().Objects(all), Unit::kCount},
                                                        {path + "walks", all.walks, Unit::kInteger}});
}

auto Now(auto part) { return PartOf(&CensusRow::now, part); }
auto Before(auto part) { return PartOf(&CensusRow::before, part); }

std::vector<Column<CensusRow>> PlainColumns(const std::string& by) {
  return {{"bytes", "bytes", Unit::kBytes, Detail::kAlways, Now(&CensusEstimates::bytes), Detail::kAlways},
          {"share", "share", Unit::kShare, Detail::kAlways, &CensusRow::share},
          {"objects", "objects", Unit::kInteger, Detail::kAlways, Now(&CensusEstimates::objects)},
          {"mean_size", "mean size", Unit::kBytes, Detail::kWide, Now(&CensusEstimates::MeanSize)},
          {"walks", "", Unit::kInteger, Detail::kJsonOnly, Now(&CensusEstimates::walks)},
          {"name", by, Unit::kText, Detail::kAlways, &CensusRow::name}};
}

std::vector<Column<CensusRow>> ComparedColumns(const std::string& by) {
  return {{"bytes_difference", "difference", Unit::kByteChange, Detail::kAlways,
           [](const CensusRow& row) { return DifferenceOf(row.now.bytes, row.before.bytes); }, Detail::kAlways},
          {"objects_difference", "objects", Unit::kCountChange, Detail::kWide,
           [](const CensusRow& row) { return DifferenceOf(row.now.objects, row.before.objects); }},
          {"before.bytes", "before", Unit::kBytes, Detail::kAlways, Before(&CensusEstimates::bytes)},
          {"bytes", "after", Unit::kBytes, Detail::kAlways, Now(&CensusEstimates::bytes)},
          {"before.objects", "", Unit::kInteger, Detail::kJsonOnly, Before(&CensusEstimates::objects)},
          {"before.walks", "", Unit::kInteger, Detail::kJsonOnly, Before(&CensusEstimates::walks)},
          {"objects", "", Unit::kInteger, Detail::kJsonOnly, Now(&CensusEstimates::objects)},
          {"walks", "", Unit::kInteger, Detail::kJsonOnly, Now(&CensusEstimates::walks)},
          {"name", by, Unit::kText, Detail::kAlways, &CensusRow::name}};
}

Group OriginGroup(const CensusOrigin& origin, const std::string& name) {
  const format::CensusCounters& counters = origin.counters;
  const bool is_all = origin.mode == format::CensusMode::kAll;
  Group group{name, {}};
  group.Add(Hidden({{"file", origin.file},
                    {"recording_id", origin.recording_id},
                    {"mode", is_all ? "all" : "sampled"},
                    {"per_second", is_all ? Value() : Value(origin.per_second)},
                    {"tlabs", counters.tlabs},
                    {"tlab_bytes", counters.tlab_bytes},
                    {"outside", counters.outside},
                    {"outside_bytes", counters.outside_bytes},
                    {"walks", counters.walks},
                    {"walked_bytes", counters.walked_bytes},
                    {"aborted", counters.aborted},
                    {"aborted_bytes", counters.aborted_bytes},
                    {"lost", counters.lost},
                    {"lost_bytes", counters.lost_bytes},
                    {"over_budget", counters.over_budget},
                    {"over_budget_bytes", counters.over_budget_bytes},
                    {"unvisited", counters.unvisited},
                    {"unvisited_bytes", counters.unvisited_bytes}}));
  return group;
}

void AddLoss(const std::string& loss, Report* report) {
  std::istringstream lines(loss);
  for (std::string line; std::getline(lines, line);) report->Add(Sentence(line));
}

}  // namespace

Report CensusReport(const CensusScan& scan, const CensusScan* before, const CensusRanking& ranking) {
  std::vector<CensusRow> rows = RowsOf(scan, before, ranking.sort);
  const size_t count = rows.size();
  if (ranking.limit > 0 && count > ranking.limit) rows.resize(ranking.limit);
  const std::string by = ByText(scan.by());
  Report report("heaprec.census/1");
  report.Add(Hidden({{"exact", scan.is_exact()}, {"by", by}, {"count", uint64_t{count}, Unit::kInteger}}));
  if (before != nullptr) report.Add(Headline(*before, "before: ", "before.total."));
  report.Add(Headline(scan, before != nullptr ? "after:  " : "", "total."));
  for (const CensusOrigin& origin : scan.origins()) report.Add(OriginGroup(origin, "recordings[]"));
  if (before != nullptr) {
    for (const CensusOrigin& origin : before->origins()) report.Add(OriginGroup(origin, "before.recordings[]"));
  }
  report.Add(MakeTable("rows", before != nullptr ? ComparedColumns(by) : PlainColumns(by), rows, count));
  if (before != nullptr) AddLoss(before->LossLine(), &report);
  AddLoss(scan.LossLine(), &report);
  return report;
}

}  // namespace heaprec::tools
