#include "tools/report/allocations/tree_report.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tools/report/columns/group_columns.h"
#include "tools/report/columns/selection.h"

namespace heaprec::tools {

using namespace render;

namespace {

using BoxId = FlameBoxTree::BoxId;

class Nodes {
 public:
  Nodes(const FlameScan& tree, const TreeLimits& limits, const GroupWords& words)
      : tree_(tree), limits_(limits), columns_(GroupColumns(words)), children_(tree.boxes().boxes().size()) {
    for (BoxId box = 1; box < children_.size(); ++box) children_[Of(box).parent].push_back(box);
    for (std::vector<BoxId>& children : children_) {
      std::ranges::sort(children, [this](BoxId a, BoxId b) {
        const double bytes_a = Bytes(a), bytes_b = Bytes(b);
        return bytes_a != bytes_b ? bytes_a > bytes_b : NameOf(a) < NameOf(b);
      });
    }
  }

  std::vector<Row> ChildrenOf(BoxId parent, uint64_t* left_out) const {
    std::vector<Row> rows;
    for (const BoxId box : children_[parent]) {
      *left_out += std::max<uint64_t>(Of(box).folded, 1);
      const bool is_full = limits_.children > 0 && rows.size() == limits_.children;
      if (is_full || Of(box).folded > 0 || tree_.estimates()[box].share.value < limits_.min_share) continue;
      --*left_out;
      rows.push_back(MakeRow(columns_, GroupRow{.name = std::string(NameOf(box)),
                                                .own = tree_.estimates()[box],
                                                .seconds = tree_.scan().scanned().seconds,
                                                .other = tree_.own()[box],
                                                .frames = {}}));
      rows.back().children = ChildrenOf(box, &rows.back().left_out);
    }
    return rows;
  }
  const std::vector<Column<GroupRow>>& columns() const { return columns_; }

 private:
  const FlameBoxTree::Box& Of(BoxId box) const { return tree_.boxes().boxes()[box]; }
  std::string_view NameOf(BoxId box) const { return tree_.calls().names().At(Of(box).name); }
  double Bytes(BoxId box) const { return tree_.estimates()[box].bytes.value; }

  const FlameScan& tree_;
  const TreeLimits limits_;
  const std::vector<Column<GroupRow>> columns_;
  std::vector<std::vector<BoxId>> children_;  // by box, largest first, then by name
};

}  // namespace

Report TreeReport(const FlameScan& tree, const TreeLimits& limits) {
  const RecordingScan& scan = tree.scan();
  const bool of_callers = tree.of_callers();
  GroupWords words = WordsOf(scan);
  words.name = of_callers ? "allocated by, called from" : "allocated below";
  words.other = "own";
  const Nodes nodes(tree, limits, words);
  uint64_t left_out = 0;
  Table table = MakeTable<GroupRow>("children", nodes.columns(), {});
  table.rows = nodes.ChildrenOf(0, &left_out);
  table.count = table.rows.size() + left_out;
  table.more = "--min-share 0 --limit 0 shows all";
  table.is_tree = true;
  Report report("heaprec.tree/1");
  report.Add(HeadlineOf(scan));
  report.Add(Hidden({{"direction", of_callers ? "callers" : "callees"}, {"left_out", left_out}}));
  report.Add(std::move(table));
  report.Add(FooterOf(scan, "path"));
  return report;
}

}  // namespace heaprec::tools
