// Which boxes of a flame graph are shown, if there may be so many only: the largest, and below each the rest in one.
//
//   const FlameBoxTree boxes = FlameBoxTree::Callees(tree, weights, {.most = 20'000});
//   for (sample) for (auto box = boxes.Of(its leaf); box != FlameBoxTree::kNone; box = boxes.boxes()[box].parent) ...
//
// A box holds all samples of the boxes below it. Box 0 is the root, and stands for all.
//
// Memory:   a few numbers for each node of the tree, and each box.
// Threads:  one.
// Failure:  none.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tools/analysis/call_tree.h"

namespace heaprec::tools {

class FlameBoxTree {
 public:
  using BoxId = uint32_t;
  static constexpr BoxId kNone = 0xffffffff;

  struct Box {
    BoxId parent = kNone;   // has the smaller id
    NamePool::Id name = 0;  // of the root, and of what is folded, the empty text
    uint64_t folded = 0;    // so many boxes, with what is below them, in one
    double weight = 0;
    CallTree::NodeId node = CallTree::kRoot;  // Callees, of what is not folded: whose box it is
  };
  struct Bounds {
    size_t most = 0;        // boxes beside those of what is folded
    double least_part = 0;  // of all weight
  };

  // Root first. `weights`: by node of the tree, of the samples whose leaf it is.
  static FlameBoxTree Callees(const CallTree& tree, std::span<const double> weights, Bounds bounds);
  // Leaf first: below the root are the leaves' names, below each the names that called it.
  static FlameBoxTree Callers(const CallTree& tree, std::span<const double> weights, Bounds bounds);

  const std::vector<Box>& boxes() const { return boxes_; }
  // The deepest box that holds the samples of a leaf. Of one that had no weight: the root.
  BoxId Of(CallTree::NodeId leaf) const { return leaf < box_of_.size() ? box_of_[leaf] : 0; }

  // Boxes in preorder, the children of each by `value`, largest first, what is folded last.
  std::vector<BoxId> Preorder(std::span<const double> value) const;

 private:
  BoxId Add(BoxId parent, NamePool::Id name, double weight);

  std::vector<Box> boxes_;
  std::vector<BoxId> box_of_;  // by node of the tree
};

}  // namespace heaprec::tools
