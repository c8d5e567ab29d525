#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "tools/query/live/path_query.h"
#include "tools/report/columns/group_columns.h"
#include "tools/report/estimates/reports.h"
#include "tools/text/text.h"

namespace heaprec::tools {

using namespace render;

namespace {

struct PathRow {
  std::string text;             // "com.acme.Cache.entries (static) -> HashMap.table"
  std::vector<PathStep> steps;  // of this row
  LiveEstimates held;
};

// `has_weights`: whether it is known how many bytes the samples represent.
std::vector<Column<PathRow>> PathColumns(bool has_weights) {
  const auto held = [](auto LiveEstimates::*part) { return PartOf(&PathRow::held, part); };
  return {{"share", "share", Unit::kShare, Detail::kAlways, held(&LiveEstimates::share), Detail::kAlways},
          {"bytes", "bytes", Unit::kBytes, Detail::kAlways, held(&LiveEstimates::bytes)},
          {"objects", "objects", Unit::kCount, Detail::kWide, held(&LiveEstimates::objects)},
          {"samples", "samples", Unit::kInteger, has_weights ? Detail::kJsonOnly : Detail::kAlways,
           held(&LiveEstimates::samples)},
          {"steps", "", Unit::kText, Detail::kJsonOnly,
           [](const PathRow& row) {
             std::vector<std::string> steps;
             for (const PathStep& step : row.steps) steps.push_back(StepText(step));
             return Value(steps);
           }},
          {"name", "held by", Unit::kProse, Detail::kAlways, &PathRow::text}};
}

// Places that hold this part of what a row holds, or more, are on that row, and what branches off there is below it;
// not if all is to be shown.
constexpr double kNearlyAll = 0.9;

class PathRows {
 public:
  PathRows(const LiveTotal& total, const PathLimits& limits) : total_(total), limits_(limits) {}

  // Returns rows for these places, the heaviest first.
  std::vector<Row> RowsOf(const std::vector<const PathNode*>& places, bool is_root, uint64_t* left_out) const {
    std::vector<Row> rows;
    for (const PathNode* const place : places) {
      const LiveEstimates held = EstimateGroup(place->held, total_, total_.Unit());
      const bool is_full = limits_.children > 0 && rows.size() == limits_.children;
      if (is_full || held.share.value < limits_.min_share) {
        ++*left_out;
        continue;
      }
      PathRow row{{}, {place->step}, held};
      const PathNode* last = place;
      std::vector<const PathNode*> below;
      while (Continues(*place, *last)) {
        for (const PathNode& beside : last->children | std::views::drop(1)) below.push_back(&beside);
        last = &last->children.front();
        row.steps.push_back(last->step);
      }
      for (const PathNode& child : last->children) below.push_back(&child);
      std::ranges::stable_sort(below, std::ranges::greater(), [](const PathNode* of) { return BytesOf(*of); });
      row.text = PathText(row.steps, is_root);
      rows.push_back(MakeRow(columns_, row));
      rows.back().children = RowsOf(below, false, &rows.back().left_out);
    }
    return rows;
  }
  const std::vector<Column<PathRow>>& columns() const { return columns_; }

 private:
  bool Continues(const PathNode& first, const PathNode& last) const {
    if (last.children.empty()) return false;
    const PathNode& next = last.children.front();
    return next.held.size() == first.held.size() ||
           (limits_.min_share > 0 && BytesOf(next) >= kNearlyAll * BytesOf(first));
  }

  const LiveTotal& total_;
  const PathLimits limits_;
  const std::vector<Column<PathRow>> columns_ = PathColumns(total_.bytes > 0);
};

struct RetainedRow {
  std::string holder;
  std::vector<std::string> steps;
  LiveEstimates retained;
};

// What would become garbage without one object, the heaviest first.
Table RetainedTable(const PathVisitor& paths, const LiveTotal& total, const PathLimits& limits) {
  std::vector<RetainedRow> rows;
  for (size_t i = 0; i < paths.holders().size(); ++i) {
    const std::vector<PathStep>& chain = paths.holders()[i];
    const LiveEstimates retained = EstimateGroup(paths.RetainedBy(i), total, total.Unit());
    if (retained.samples == 0 || retained.share.value < limits.min_share) continue;
    RetainedRow& row = rows.emplace_back(RetainedRow{PathText(chain, true, kShortPathBytes), {}, retained});
    for (const PathStep& step : chain) row.steps.push_back(StepText(step));
  }
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [](const RetainedRow& row) { return row.retained.bytes.value; });
  const auto retained = [](auto LiveEstimates::*part) { return PartOf(&RetainedRow::retained, part); };
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

bool IsKnown(const PathSearch& search) { return search.objects > 0 && search.end != format::WalkEnd::kFailed; }

std::string EndText(const PathSearch& search) {
  if (!IsKnown(search) && search.end == format::WalkEnd::kTime) return "How much was searched is not known";
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

void AddSearch(const PathSearch& search, std::vector<Field> amounts, Report* into) {
  into->Add(Hidden({{"at_ns", search.time_ns, Unit::kNanoseconds}, {"end", WordOf(search.end)}}));
  amounts.insert(amounts.begin(), {"", search.time_ns, Unit::kNanoseconds});
  into->Add(Sentence("What holds live objects after {}: {}, in {} samples", std::move(amounts)));
  into->Add(Sentence(EndText(search), IsKnown(search)
                                          ? std::vector<Field>{{"objects", search.objects, Unit::kCount},
                                                               {"paused_ns", search.paused_ns, Unit::kNanoseconds}}
                                          : std::vector<Field>{}));
  if (!search.by_jvmti.empty()) {
    into->Add(Sentence("JVMTI reported the references ({}), which takes longer",
                       {{"by_jvmti", search.by_jvmti, Unit::kText}}));
  }
  if (search.chain_of.size() < search.announced) {
    into->Add(Sentence("{} of {} paths were not written: the ring was full",
                       {{"lost", search.announced - search.chain_of.size(), Unit::kInteger},
                        {"announced", search.announced, Unit::kInteger}}));
  }
}

// Of several recordings.
void AddSearches(const std::vector<PathSearch>& searches, std::vector<Field> amounts, Report* into) {
  static const std::vector<Column<PathSearch>> columns{
      {"file", "", Unit::kText, Detail::kJsonOnly, [](const PathSearch& one) { return Value(ToUtf8(one.file)); }},
      {"missing", "", Unit::kText, Detail::kJsonOnly,
       [](const PathSearch& one) { return one.missing.empty() ? Value() : Value(ToUtf8(one.missing)); }},
      {"at_ns", "", Unit::kNanoseconds, Detail::kJsonOnly, &PathSearch::time_ns},
      {"end", "", Unit::kText, Detail::kJsonOnly, [](const PathSearch& one) { return Value(WordOf(one.end)); }},
      {"objects", "", Unit::kCount, Detail::kJsonOnly, &PathSearch::objects},
      {"paused_ns", "", Unit::kNanoseconds, Detail::kJsonOnly, &PathSearch::paused_ns},
      {"announced", "", Unit::kInteger, Detail::kJsonOnly, &PathSearch::announced},
      {"paths", "", Unit::kInteger, Detail::kJsonOnly,
       [](const PathSearch& one) { return Value(one.chain_of.size()); }}};
  into->Add(HiddenTable("recordings", columns, searches));
  const auto searched = static_cast<uint64_t>(std::ranges::count(searches, "", &PathSearch::missing));
  const auto whole = static_cast<uint64_t>(
      std::ranges::count_if(searches, [](const PathSearch& one) { return one.missing.empty() && one.is_complete(); }));
  amounts.insert(amounts.begin(), {"searched", searched, Unit::kInteger});
  into->Add(
      Sentence("What holds live objects in {} recordings, each when its heap was last searched: {}, in {} samples",
               std::move(amounts)));
  into->Add(Sentence("{} of {} heaps were searched completely",
                     {{"complete", whole, Unit::kInteger}, {"", searched, Unit::kInteger}}));
  for (const PathSearch& one : searches) {
    if (!one.missing.empty()) into->Add(Sentence("{}: {}", {{"", ToUtf8(one.file)}, {"", ToUtf8(one.missing)}}));
  }
}

}  // namespace

Report PathsReport(const RecordingScan& scan, const PathVisitor& paths, const PathLimits& limits) {
  const PathNode tree = paths.Tree();
  LiveTotal held, without;
  for (const LiveSample& one : tree.held) held.Add(one);
  for (const LiveSample& one : paths.Without()) without.Add(one);
  Report report("heaprec.paths/1");
  const auto bytes = [](const LiveTotal& of) { return Value(EstimateTotal(of, of, of.Unit()).bytes); };
  const std::vector<Field> amounts{{"held_bytes", bytes(held), Unit::kBytes},
                                   {"samples", held.samples, Unit::kInteger}};
  const std::vector<PathSearch>& searches = paths.searches();
  if (searches.size() == 1) {
    AddSearch(searches.front(), amounts, &report);
  } else {
    AddSearches(searches, amounts, &report);
  }
  const bool is_complete =
      std::ranges::all_of(searches, [](const PathSearch& one) { return !one.missing.empty() || one.is_complete(); });
  const PathRows rows(held, limits);
  Table table = MakeTable<PathRow>("children", rows.columns(), {});
  uint64_t left_out = 0;
  std::vector<const PathNode*> roots;
  for (const PathNode& root : tree.children) roots.push_back(&root);
  table.rows = rows.RowsOf(roots, true, &left_out);
  table.count = table.rows.size() + left_out;
  table.more = "--min-share 0 --limit 0 shows all";
  table.is_tree = true;
  report.Add(Hidden({{"left_out", left_out, Unit::kInteger}}));
  report.Add(std::move(table));
  if (!paths.holders().empty()) {
    report.Add(Sentence("Retained: what would become garbage without this one object"));
    report.Add(RetainedTable(paths, held, limits));
  }
  if (without.samples > 0) {
    report.Add(Sentence(is_complete ? "No path: {} is mostly garbage that no collection has removed yet"
                                    : "Not reached: {}, including garbage that no collection has removed yet",
                        {{"without_bytes", bytes(without), Unit::kBytes}}));
  }
  report.Add(LossLines(scan));
  return report;
}

}  // namespace heaprec::tools
