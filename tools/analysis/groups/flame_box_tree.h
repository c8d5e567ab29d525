// Chooses the boxes of a flame graph within a limit: the largest ones, and below each a box for the rest.
//
//   const FlameBoxTree boxes = FlameBoxTree::Callees(tree, weights, {.most = 20'000});
//   for (auto box = boxes.Of(leaf); box != FlameBoxTree::kNone; box = boxes.boxes()[box].parent) ...
//
// A box includes all samples of the boxes below it. Box 0 is the root and includes everything.
//
// Memory:   a few numbers per node of the tree and per box.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tools/analysis/groups/call_tree.h"

namespace heaprec::tools {

class FlameBoxTree {
 public:
  using BoxId = uint32_t;
  static constexpr BoxId kNone = 0xffffffff;

  struct Box {
    BoxId parent = kNone;   // has a smaller id
    NamePool::Id name = 0;  // empty for the root and for folded boxes
    uint64_t folded = 0;    // number of the parent's children folded into this one
    double weight = 0;
    CallTree::NodeId node = CallTree::kRoot;  // Callees: the node of this box, unless it is folded
  };
  struct Bounds {
    size_t most = 0;        // maximum number of boxes, without folded ones
    double least_part = 0;  // minimum part of the total weight
    uint32_t depth = 0;     // boxes at this depth include everything below them; 0: no limit
  };

  // Root first. `weights`: by node of the tree, the weight of samples with this leaf.
  static FlameBoxTree Callees(const CallTree& tree, std::span<const double> weights, Bounds bounds);
  // Leaf first: below the root are the leaves, below each box its callers.
  static FlameBoxTree Callers(const CallTree& tree, std::span<const double> weights, Bounds bounds);

  const std::vector<Box>& boxes() const { return boxes_; }
  // Returns the deepest box that includes the samples of a leaf; the root if it has no weight.
  BoxId Of(CallTree::NodeId leaf) const { return leaf < box_of_.size() ? box_of_[leaf] : 0; }

  // Boxes in preorder, children by `value`, largest first, folded ones last.
  std::vector<BoxId> Preorder(std::span<const double> value) const;

 private:
  BoxId Add(BoxId parent, NamePool::Id name, double weight);

  std::vector<Box> boxes_;
  std::vector<BoxId> box_of_;  // by node of the tree
};

}  // namespace heaprec::tools
