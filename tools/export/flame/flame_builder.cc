#include "tools/export/flame/flame_builder.h"

#include "tools/export/flame/flame_graph.h"

namespace heaprec::tools {
namespace {

constexpr uint32_t kAllName = 0, kFoldedName = 1;

}  // namespace

std::vector<FlameBox> FlameAssembly::Boxes(const FlameBoxTree& tree, std::span<const FlameBoxTree::BoxId> order) {
  std::vector<FlameBox> boxes;
  boxes.reserve(order.size());
  std::vector<uint32_t> depths(tree.boxes().size());
  for (const FlameBoxTree::BoxId box : order) {
    const FlameBoxTree::Box& of = tree.boxes()[box];
    depths[box] = of.parent == FlameBoxTree::kNone ? 0 : depths[of.parent] + 1;
    boxes.push_back({depths[box], NameOf(tree, box), of.folded});
  }
  return boxes;
}

uint32_t FlameAssembly::NameOf(const FlameBoxTree& tree, FlameBoxTree::BoxId box) {
  const FlameBoxTree::Box& of = tree.boxes()[box];
  if (of.parent == FlameBoxTree::kNone) return kAllName;
  if (of.folded > 0) return kFoldedName;
  const auto [known, is_new] = indexes_.try_emplace(of.name, static_cast<uint32_t>(flame_names_.size()));
  if (is_new) flame_names_.push_back({names_.At(of.name), KindOf(of.name)});
  return known->second;
}

FrameKind FlameAssembly::KindOf(NamePool::Id name) const {
  if (leaves_.IsClass(name)) return FrameKind::kClass;
  if (leaves_.IsNative(name)) return FrameKind::kNative;
  return KindOfFrame(names_.At(name));
}

}  // namespace heaprec::tools
