#include "tools/report/allocations/top_report.h"

#include "tools/report/columns/group_columns.h"
#include "tools/report/columns/selection.h"
#include "tools/report/columns/stack_lines.h"

namespace heaprec::tools {

using namespace render;

namespace {

// Callers that text shows below a stack's leaf.
constexpr size_t kCallers = 6;

GroupRow RowOf(GroupTable::Key key, const Groups& of, const CallTree& tree, double seconds) {
  GroupRow row{
      .name = of.grouping().NameOf(key, tree), .own = of.own().Of(key), .seconds = seconds, .other = {}, .frames = {}};
  if (of.cumulative() != nullptr) row.other = of.cumulative()->Of(key);
  if (of.grouping().by() == By::kStack) row.frames = FramesOf(key, tree);
  if (const auto outside = of.outside().find(key); outside != of.outside().end()) row.outside = outside->second;
  return row;
}

Table TableOf(const RecordingScan& scan, const Groups& of, const Ranking& ranking, const CallTree& tree) {
  std::vector<GroupRow> rows;
  for (const GroupTable::Row* row : Ranked(of, ranking, tree)) {
    rows.push_back(RowOf(row->key, of, tree, scan.scanned().seconds));
  }
  GroupWords words = WordsOf(scan);
  words.name = of.grouping().Text();
  if (of.cumulative() != nullptr) words.other = "cumulative";
  words.shows_other = of.cumulative() != nullptr;
  words.has_frames = of.grouping().by() == By::kStack;
  words.has_outside = !of.outside().empty();
  const GroupTable& all = of.cumulative() != nullptr ? *of.cumulative() : of.own();
  Table table = MakeTable("tables[]", GroupColumns(words), rows, all.Rows().size());
  if (ranking.min_share > 0) table.more = "--min-share 0 --limit 0 shows all";
  table.fields = {{"by", of.grouping().Text()}};
  for (size_t i = 0; i < rows.size(); ++i) table.rows[i].below = CallersOf(rows[i].frames, kCallers);
  return table;
}

}  // namespace

Report TopReport(const RecordingScan& scan, const std::vector<Groups>& tables, const Ranking& ranking,
                 const CallTree& tree, const std::string& what) {
  Report report("heaprec.top/1");
  report.Add(HeadlineOf(scan));
  for (const Groups& one : tables) report.Add(TableOf(scan, one, ranking, tree));
  report.Add(FooterOf(scan, what));
  return report;
}

}  // namespace heaprec::tools
