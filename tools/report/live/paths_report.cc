#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tools/query/live/path_query.h"
#include "tools/report/columns/selection.h"
#include "tools/report/live/reports.h"

namespace heaprec::tools {

using namespace render;

namespace {

struct PathRow {
  std::string text;             // "com.acme.Cache.entries (static) -> HashMap.table"
  std::vector<PathStep> steps;  // of this row
  LiveEstimates held;
};

std::vector<Column<PathRow>> PathColumns() {
  const auto held = [](auto LiveEstimates::*member) {
    return [member](const PathRow& row) -> Value { return row.held.*member; };
  };
  return {{"share", "share", Unit::kShare, Detail::kAlways, held(&LiveEstimates::share), Detail::kAlways},
          {"bytes", "bytes", Unit::kBytes, Detail::kAlways, held(&LiveEstimates::bytes)},
          {"objects", "objects", Unit::kCount, Detail::kWide, held(&LiveEstimates::objects)},
          {"samples", "", Unit::kInteger, Detail::kJsonOnly, held(&LiveEstimates::samples)},
          {"steps", "", Unit::kText, Detail::kJsonOnly,
           [](const PathRow& row) {
             std::vector<std::string> steps;
             for (const PathStep& step : row.steps) steps.push_back(StepText(step));
             return Value(steps);
           }},
          {"name", "held by", Unit::kText, Detail::kAlways, &PathRow::text}};
}

class PathRows {
 public:
  PathRows(const LiveTotal& total, const PathLimits& limits) : total_(total), limits_(limits) {}

  std::vector<Row> ChildrenOf(const PathNode& parent, bool is_root, uint64_t* left_out) const {
    std::vector<Row> rows;
    for (const PathNode& child : parent.children) {
      const LiveEstimates held = EstimateGroup(child.held, total_, total_.Unit());
      const bool is_full = limits_.children > 0 && rows.size() == limits_.children;
      if (is_full || held.share.value < limits_.min_share) {
        ++*left_out;
        continue;
      }
      // Places that hold the same objects are one row.
      PathRow row{{}, {child.step}, held};
      const PathNode* last = &child;
      while (last->children.size() == 1 && last->children.front().held.size() == last->held.size()) {
        last = &last->children.front();
        row.steps.push_back(last->step);
      }
      row.text = PathText(row.steps, is_root);
      rows.push_back(MakeRow(columns_, row));
      rows.back().children = ChildrenOf(*last, false, &rows.back().left_out);
    }
    return rows;
  }
  const std::vector<Column<PathRow>>& columns() const { return columns_; }

 private:
  const LiveTotal& total_;
  const PathLimits limits_;
  const std::vector<Column<PathRow>> columns_ = PathColumns();
};

struct RetainedRow {
  std::string holder;
  std::vector<std::string> steps;
  LiveEstimates retained;
};

// What would become garbage without one object, the heaviest first.
Table RetainedTable(const PathSearch& search, const PathVisitor& paths, const LiveTotal& total,
                    const PathLimits& limits) {
  std::vector<RetainedRow> rows;
  for (const PathSearch::Holder& holder : search.holders) {
    const LiveEstimates retained = EstimateGroup(paths.RetainedBy(holder), total, total.Unit());
    if (retained.samples == 0 || retained.share.value < limits.min_share) continue;
    RetainedRow& row = rows.emplace_back(RetainedRow{PathText(holder.chain, true, kShortPathBytes), {}, retained});
    for (const PathStep& step : holder.chain) row.steps.push_back(StepText(step));
  }
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [](const RetainedRow& row) { return row.retained.bytes.value; });
  const auto retained = [](auto LiveEstimates::*member) {
    return [member](const RetainedRow& row) -> Value { return row.retained.*member; };
  };
  const std::vector<Column<RetainedRow>> columns = {
      {"share", "share", Unit::kShare, Detail::kAlways, retained(&LiveEstimates::share), Detail::kAlways},
      {"bytes", "retained", Unit::kBytes, Detail::kAlways, retained(&LiveEstimates::bytes), Detail::kAlways},
      {"objects", "objects", Unit::kCount, Detail::kWide, retained(&LiveEstimates::objects)},
      {"samples", "", Unit::kInteger, Detail::kJsonOnly, retained(&LiveEstimates::samples)},
      {"steps", "", Unit::kText, Detail::kJsonOnly, &RetainedRow::steps},
      {"name", "object held by", Unit::kText, Detail::kAlways, &RetainedRow::holder}};
  return MakeTable("retained", columns, rows);
}

const char* WordOf(format::WalkEnd end) {
  switch (end) {
    case format::WalkEnd::kComplete:
      return "complete";
    case format::WalkEnd::kTime:
      return "time";
    case format::WalkEnd::kMemory:
      return "memory";
    case format::WalkEnd::kRoots:
      return "roots";
    case format::WalkEnd::kFailed:
      return "failed";
  }
  return "?";
}

std::string EndText(const PathSearch& search) {
  switch (search.end) {
    case format::WalkEnd::kComplete:
      return "All of the heap was searched: {} objects in {}";
    case format::WalkEnd::kTime:
      return "The search ended early, at paths.pause: {} objects in {}";
    case format::WalkEnd::kMemory:
      return "The search ended early, at paths.memory: {} objects in {}";
    case format::WalkEnd::kRoots:
      return "The search ended before it had all roots, at paths.pause: {} objects in {}";
    case format::WalkEnd::kFailed:
      return "The search failed: " + search.failure;
  }
  return "";
}

}  // namespace

Report PathsReport(const RecordingScan& scan, const PathSearch& search, const PathVisitor& paths,
                   const PathLimits& limits) {
  const PathNode tree = paths.Tree();
  LiveTotal held, without;
  for (const LiveSample& one : tree.held) held.Add(one);
  for (const LiveSample& one : paths.Without()) without.Add(one);
  Report report("heaprec.paths/1");
  report.Add(Hidden({{"at_ns", search.time_ns, Unit::kNanoseconds}, {"end", WordOf(search.end)}}));
  const auto bytes = [](const LiveTotal& of) { return Value(EstimateTotal(of, of, of.Unit()).bytes); };
  report.Add(
      Sentence("What holds live objects after {}: {}, in {} samples", {{"", search.time_ns, Unit::kNanoseconds},
                                                                       {"held_bytes", bytes(held), Unit::kBytes},
                                                                       {"samples", held.samples, Unit::kInteger}}));
  report.Add(Sentence(EndText(search), search.end == format::WalkEnd::kFailed
                                           ? std::vector<Field>{}
                                           : std::vector<Field>{{"objects", search.objects, Unit::kCount},
                                                                {"paused_ns", search.paused_ns, Unit::kNanoseconds}}));
  if (!search.by_jvmti.empty()) {
    report.Add(Sentence("JVMTI reported the references ({}): slower, and long chains first",
                        {{"by_jvmti", search.by_jvmti, Unit::kText}}));
  }
  if (search.chain_of.size() < search.announced) {
    report.Add(Sentence("{} of {} paths were not written: the ring was full",
                        {{"lost", search.announced - search.chain_of.size(), Unit::kInteger},
                         {"announced", search.announced, Unit::kInteger}}));
  }
  const PathRows rows(held, limits);
  Table table = MakeTable<PathRow>("children", rows.columns(), {});
  uint64_t left_out = 0;
  table.rows = rows.ChildrenOf(tree, true, &left_out);
  table.count = table.rows.size() + left_out;
  table.more = "--min-share 0 --limit 0 shows all";
  table.is_tree = true;
  report.Add(Hidden({{"left_out", left_out, Unit::kInteger}}));
  report.Add(std::move(table));
  if (!search.holders.empty()) {
    report.Add(Sentence("Retained: what would become garbage without this one object"));
    report.Add(RetainedTable(search, paths, held, limits));
  }
  if (without.samples > 0) {
    report.Add(Sentence(search.is_complete() ? "No path: {} is mostly garbage that no collection has removed yet"
                                             : "Not reached: {}, garbage that no collection has removed yet included",
                        {{"without_bytes", bytes(without), Unit::kBytes}}));
  }
  report.Add(LossLines(scan));
  return report;
}

}  // namespace heaprec::tools
