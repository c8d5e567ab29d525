#include "tools/report/allocations/tree_report.h"

#include <algorithm>

#include "tools/report/columns/group_columns.h"
#include "tools/report/columns/selection.h"

namespace heaprec::tools {

using namespace render;

namespace {

using NodeId = CallTree::NodeId;

class Nodes {
 public:
  Nodes(const RecordingScan& scan, const TreeVisitor& tree, const TreeLimits& limits, const GroupWords& words)
      : tree_(tree),
        limits_(limits),
        seconds_(scan.scanned().seconds),
        columns_(GroupColumns(words)),
        children_(tree.Children()) {}

  std::vector<Row> ChildrenOf(NodeId parent, uint64_t* left_out) const {
    std::vector<Row> rows;
    const std::vector<NodeId>& children = children_[parent];
    for (size_t i = 0; i < Shown(children); ++i) {
      const NodeId node = children[i];
      rows.push_back(MakeRow(columns_, GroupRow{.name = std::string(tree_.tree().NameOf(node)),
                                                .own = tree_.Below(node),
                                                .seconds = seconds_,
                                                .other = tree_.Own(node),
                                                .frames = {}}));
      rows.back().children = ChildrenOf(node, &rows.back().left_out);
    }
    *left_out = children.size() - rows.size();
    return rows;
  }
  const std::vector<Column<GroupRow>>& columns() const { return columns_; }

 private:
  size_t Shown(const std::vector<NodeId>& children) const {
    const auto small = [this](NodeId node) { return tree_.Below(node).share.value < limits_.min_share; };
    const auto shown = static_cast<size_t>(std::ranges::find_if(children, small) - children.begin());
    return limits_.children > 0 ? std::min(shown, limits_.children) : shown;
  }

  const TreeVisitor& tree_;
  const TreeLimits limits_;
  const double seconds_;
  const std::vector<Column<GroupRow>> columns_;
  const std::vector<std::vector<NodeId>> children_;
};

}  // namespace

Report TreeReport(const RecordingScan& scan, const TreeVisitor& tree, Direction direction, const TreeLimits& limits) {
  const bool of_callers = direction == Direction::kCallers;
  GroupWords words = WordsOf(scan);
  words.name = of_callers ? "allocated by, called from" : "allocated below";
  words.other = "own";
  const Nodes nodes(scan, tree, limits, words);
  uint64_t left_out = 0;
  Table table = MakeTable<GroupRow>("children", nodes.columns(), {});
  table.rows = nodes.ChildrenOf(CallTree::kRoot, &left_out);
  table.count = table.rows.size() + left_out;
  table.more = "--min-share 0 --limit 0 shows all";
  table.is_tree = true;
  Report report("heaprec.tree/2");
  report.Add(HeadlineOf(scan));
  report.Add(Hidden({{"direction", of_callers ? "callers" : "callees"}, {"left_out", left_out}}));
  report.Add(std::move(table));
  report.Add(FooterOf(scan, "path"));
  return report;
}

}  // namespace heaprec::tools
