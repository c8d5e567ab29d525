#include "tools/query/allocations/tree_query.h"

#include <algorithm>

namespace heaprec::tools {

TreeVisitor::TreeVisitor(const CallTree& stacks, Direction direction, uint32_t depth)
    : stacks_(stacks),
      direction_(direction),
      depth_(depth > 0 ? depth : CallTree::kMaxDepth),
      callers_(&stacks.names(), {}),
      below_(OrderLevel::kStack),
      own_(OrderLevel::kStack) {}

void TreeVisitor::Begin(const format::FileHeader&, std::optional<OrderLevel> matched_by) {
  below_.Start(matched_by);
  own_.Start(matched_by);
}

void TreeVisitor::Visit(const MatchedBlock& matched_block) {
  for (const WeightedSample* drawn : matched_block.drawn) {
    CallTree::NodeId node = EndOf(matched_block.tree.Of(matched_block.block.samples[drawn->index].stack));
    own_.Add(node, *drawn);
    for (; node != CallTree::kRoot; node = tree().At(node).parent) below_.Add(node, *drawn);
  }
}

void TreeVisitor::End(const Estimator& estimator, double) {
  below_.Close(estimator);
  own_.Close(estimator);
}

CallTree::NodeId TreeVisitor::EndOf(CallTree::NodeId leaf) {
  if (leaf >= ends_.size()) ends_.resize(stacks_.nodes().size(), kNotLooked);
  CallTree::NodeId& end = ends_[leaf];
  if (end != kNotLooked) return end;
  if (direction_ == Direction::kCallers) return end = Turned(leaf);
  end = leaf;
  while (stacks_.At(end).depth > depth_) end = stacks_.At(end).parent;
  return end;
}

CallTree::NodeId TreeVisitor::Turned(CallTree::NodeId leaf) {
  CallTree::NodeId node = CallTree::kRoot;
  for (; leaf != CallTree::kRoot && callers_.At(node).depth < depth_; leaf = stacks_.At(leaf).parent) {
    node = callers_.ChildOf(node, stacks_.At(leaf).name);
  }
  return node;
}

std::vector<std::vector<CallTree::NodeId>> TreeVisitor::Children() const {
  std::vector<std::vector<CallTree::NodeId>> children(tree().nodes().size());
  for (const GroupTable::Row& row : below_.Rows()) {
    if (row.key != CallTree::kRoot) children[tree().At(row.key).parent].push_back(row.key);
  }
  for (std::vector<CallTree::NodeId>& of : children) {
    std::sort(of.begin(), of.end(), [this](CallTree::NodeId a, CallTree::NodeId b) {
      const double bytes_a = Below(a).bytes.value, bytes_b = Below(b).bytes.value;
      return bytes_a != bytes_b ? bytes_a > bytes_b : tree().NameOf(a) < tree().NameOf(b);
    });
  }
  return children;
}

}  // namespace heaprec::tools
