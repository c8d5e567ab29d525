// The stacks of a scan as a tree in which each node has what was allocated below it, and in it.
//
// Callees: from the root of the stacks down. Callers: from the frame that allocated up, each frame with those that
// called it.
//
// Memory:   Figures and a Subset for each node down to the depth asked for.
// Threads:  one.
#pragma once

#include <optional>
#include <vector>

#include "tools/analysis/call_tree.h"
#include "tools/analysis/group_table.h"
#include "tools/query/scan/scan.h"

namespace heaprec::tools {

enum class Direction : bool { kCallees, kCallers };

class TreeVisitor : public ScanVisitor {
 public:
  // `stacks`: the tree of the scan. `depth`: of the nodes, 0: all.
  TreeVisitor(const CallTree& stacks, Direction direction, uint32_t depth);

  OrderLevel finest() const override { return OrderLevel::kStack; }
  void Begin(const format::FileHeader& header, std::optional<OrderLevel> matched_by) override;
  void Visit(const MatchedBlock& matched_block) override;
  void End(const Estimator& estimator, double seconds) override;

  // Whose nodes these are.
  const CallTree& tree() const { return direction_ == Direction::kCallers ? callers_ : stacks_; }
  // With what is below them; and what stacks that end there allocated themselves.
  const GroupEstimates& Below(CallTree::NodeId node) const { return below_.Of(node); }
  const GroupEstimates& Own(CallTree::NodeId node) const { return own_.Of(node); }
  // Returns the children of each node with samples, largest first, then by name.
  std::vector<std::vector<CallTree::NodeId>> Children() const;

 private:
  static constexpr CallTree::NodeId kNotLooked = 0xffffffff;
  CallTree::NodeId EndOf(CallTree::NodeId leaf);
  CallTree::NodeId Turned(CallTree::NodeId leaf);

  const CallTree& stacks_;
  const Direction direction_;
  const uint32_t depth_;
  CallTree callers_;
  std::vector<CallTree::NodeId> ends_;  // by leaf: where its path ends in tree()
  GroupTable below_, own_;
};

}  // namespace heaprec::tools
