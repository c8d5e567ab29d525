// A flame graph put together from the boxes that were chosen and what is known of them.
//
// Threads:  one.
// Failure:  none.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/analysis/flame_box_tree.h"
#include "tools/analysis/name_pool.h"
#include "tools/export/flame/flame_graph.h"
#include "tools/query/flame_query.h"
#include "tools/query/scan.h"

namespace heaprec::tools {

// The boxes of a graph in the order in which they are shown.
class FlameAssembly {
 public:
  FlameAssembly(const NamePool* names, const LeafVisitor* leaves) : names_(*names), leaves_(*leaves) {}

  // `order`: boxes in preorder.
  std::vector<FlameBox> Boxes(const FlameBoxTree& tree, std::span<const FlameBoxTree::BoxId> order);
  std::vector<FlameName> TakeNames() { return std::move(flame_names_); }

 private:
  uint32_t NameOf(const FlameBoxTree& tree, FlameBoxTree::BoxId box);
  FrameKind KindOf(NamePool::Id name) const;

  const NamePool& names_;
  const LeafVisitor& leaves_;
  std::vector<FlameName> flame_names_{{"all", FrameKind::kAll}, {"", FrameKind::kFolded}};
  std::unordered_map<NamePool::Id, uint32_t> indexes_;  // into flame_names_
};

}  // namespace heaprec::tools
