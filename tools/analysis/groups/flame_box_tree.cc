#include "tools/analysis/groups/flame_box_tree.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <utility>

namespace heaprec::tools {
namespace {

using NodeId = CallTree::NodeId;

// A possible next box, the heaviest first, then the lowest number, so that the same tree has the same boxes.
template <typename What>
struct Candidate {
  double weight = 0;
  uint64_t number = 0;  // unique, from numbers of nodes and boxes
  FlameBoxTree::BoxId parent = FlameBoxTree::kNone;
  What what{};
  bool operator<(const Candidate& other) const {
    return weight != other.weight ? weight < other.weight : number > other.number;
  }
};

// Leaves with the same names from the leaf up to here, and the current node of each: the root if it has ended.
struct Called {
  NamePool::Id name = 0;
  std::vector<std::pair<NodeId, NodeId>> leaves;  // leaf, the node of this box
};

std::vector<double> SumsOf(const CallTree& tree, std::span<const double> weights) {
  std::vector<double> sums(weights.begin(), weights.end());
  sums.resize(tree.nodes().size());
  for (NodeId node = static_cast<NodeId>(sums.size()) - 1; node != CallTree::kRoot; --node) {
    sums[tree.At(node).parent] += sums[node];
  }
  return sums;
}

// Children of a node are at begin[node] to begin[node + 1].
struct Children {
  std::vector<uint32_t> begin;
  std::vector<NodeId> nodes;
};

Children ChildrenOf(const CallTree& tree) {
  Children children;
  const size_t size = tree.nodes().size();
  children.begin.resize(size + 2);
  children.nodes.resize(size);
  for (NodeId node = 1; node < size; ++node) ++children.begin[tree.At(node).parent + 2];
  for (size_t i = 2; i < children.begin.size(); ++i) children.begin[i] += children.begin[i - 1];
  for (NodeId node = 1; node < size; ++node) children.nodes[children.begin[tree.At(node).parent + 1]++] = node;
  return children;
}

}  // namespace

FlameBoxTree::BoxId FlameBoxTree::Add(BoxId parent, NamePool::Id name, double weight) {
  boxes_.push_back({.parent = parent, .name = name, .folded = 0, .weight = weight, .node = CallTree::kRoot});
  return static_cast<BoxId>(boxes_.size() - 1);
}

FlameBoxTree FlameBoxTree::Callees(const CallTree& tree, std::span<const double> weights, Bounds bounds) {
  FlameBoxTree made;
  const std::vector<double> sums = SumsOf(tree, weights);
  const Children children = ChildrenOf(tree);
  std::vector<BoxId> own(sums.size(), kNone), fold(sums.size(), kNone);
  std::priority_queue<Candidate<NodeId>> queue;
  queue.push({sums[CallTree::kRoot], 0, kNone, CallTree::kRoot});
  while (!queue.empty() && made.boxes_.size() < std::max<size_t>(bounds.most, 1)) {
    const Candidate<NodeId> next = queue.top();
    queue.pop();
    if (next.weight < bounds.least_part * sums[CallTree::kRoot] && next.what != CallTree::kRoot) break;
    own[next.what] = made.Add(next.parent, tree.At(next.what).name, next.weight);
    made.boxes_[own[next.what]].node = next.what;
    if (bounds.depth > 0 && tree.At(next.what).depth >= bounds.depth) continue;
    for (uint32_t i = children.begin[next.what]; i < children.begin[next.what + 1]; ++i) {
      const NodeId child = children.nodes[i];
      if (sums[child] > 0) queue.push({sums[child], child, own[next.what], child});
    }
  }
  made.box_of_ = own;
  for (NodeId node = 1; node < sums.size(); ++node) {
    if (own[node] != kNone || !(sums[node] > 0)) continue;
    const NodeId parent = tree.At(node).parent;
    const bool is_below = bounds.depth > 0 && tree.At(node).depth > bounds.depth;
    BoxId& box = own[parent] != kNone && !is_below ? fold[parent] : made.box_of_[parent];
    if (box == kNone) box = made.Add(own[parent], 0, 0);
    made.box_of_[node] = box;
    if (own[parent] == kNone || is_below) continue;
    made.boxes_[box].weight += sums[node];
    ++made.boxes_[box].folded;
  }
  for (BoxId& box : made.box_of_) box = box == kNone ? 0 : box;
  return made;
}

FlameBoxTree FlameBoxTree::Callers(const CallTree& tree, std::span<const double> weights, Bounds bounds) {
  FlameBoxTree made;
  Called all;
  double whole = 0;
  for (NodeId leaf = 1; leaf < weights.size(); ++leaf) {
    if (!(weights[leaf] > 0)) continue;
    all.leaves.emplace_back(leaf, CallTree::kRoot);
    whole += weights[leaf];
  }
  made.box_of_.resize(tree.nodes().size(), 0);
  std::priority_queue<Candidate<Called>> queue;
  std::vector<uint32_t> depths;  // by box
  // Distributes the leaves of a box among the boxes below it.
  const auto split = [&](BoxId parent, const Called& of) {
    const BoxId above = made.boxes_[parent].parent;
    depths.push_back(above == kNone ? 0 : depths[above] + 1);
    const bool is_deepest = bounds.depth > 0 && depths[parent] >= bounds.depth;
    std::unordered_map<NamePool::Id, Candidate<Called>> below;
    for (const auto& [leaf, at] : of.leaves) {
      made.box_of_[leaf] = parent;
      const NodeId next = at == CallTree::kRoot ? leaf : tree.At(at).parent;
      if (next == CallTree::kRoot || is_deepest) continue;
      Candidate<Called>& candidate = below[tree.At(next).name];
      candidate.what.leaves.emplace_back(leaf, next);
      candidate.weight += weights[leaf];
    }
    for (auto& [name, candidate] : below) {
      candidate.what.name = name;
      candidate.parent = parent;
      // The first leaf below a box identifies the candidate; the order of the map is not reproducible.
      candidate.number = uint64_t{parent} << 32 | candidate.what.leaves.front().first;
      queue.push(std::move(candidate));
    }
  };
  split(made.Add(kNone, 0, whole), all);
  while (!queue.empty() && made.boxes_.size() < bounds.most) {
    const Candidate<Called> next = queue.top();
    if (next.weight < bounds.least_part * whole) break;
    queue.pop();
    split(made.Add(next.parent, next.what.name, next.weight), next.what);
  }
  std::unordered_map<BoxId, BoxId> folds;
  for (; !queue.empty(); queue.pop()) {
    const Candidate<Called>& left = queue.top();
    const auto [fold, is_new] = folds.try_emplace(left.parent, kNone);
    if (is_new) fold->second = made.Add(left.parent, 0, 0);
    made.boxes_[fold->second].weight += left.weight;
    ++made.boxes_[fold->second].folded;
    for (const auto& [leaf, at] : left.what.leaves) made.box_of_[leaf] = fold->second;
  }
  return made;
}

std::vector<FlameBoxTree::BoxId> FlameBoxTree::Preorder(std::span<const double> value) const {
  std::vector<std::vector<BoxId>> children(boxes_.size());
  for (BoxId box = 1; box < boxes_.size(); ++box) children[boxes_[box].parent].push_back(box);
  std::vector<BoxId> order, open{0};
  while (!open.empty()) {
    const BoxId box = open.back();
    open.pop_back();
    order.push_back(box);
    std::vector<BoxId>& below = children[box];
    // The last of them is at the top of the heap.
    std::stable_sort(below.begin(), below.end(), [&](BoxId a, BoxId b) {
      const bool folded_a = boxes_[a].folded > 0, folded_b = boxes_[b].folded > 0;
      return folded_a != folded_b ? folded_a : value[a] < value[b];
    });
    open.insert(open.end(), below.begin(), below.end());
  }
  return order;
}

}  // namespace heaprec::tools
