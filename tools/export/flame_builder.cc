#include "tools/export/flame_builder.h"

#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "tools/analysis/name_pool.h"
#include "tools/export/flame_graph.h"
#include "tools/input/stream_traits.h"

namespace heaprec::tools {
namespace {

constexpr uint32_t kAllName = 0, kFoldedName = 1;

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

std::vector<FlameFigure> FiguresOf(const RecordingScan& scan) {
  using Unit = FlameFigure::Unit;
  const FlameFigure share{"share", "share", Unit::kShare, true}, samples{"samples", "samples", Unit::kCount, false};
  if (scan.of_exceptions()) return {{"bytes", "thrown", Unit::kCount, true}, share, samples};
  return {{"bytes", "bytes", Unit::kBytes, true},
          {"objects", TraitsOf(scan.stream()).lifecycle.things, Unit::kCount, true},
          share,
          samples};
}

Estimate FigureOf(const GroupEstimates& of, const std::string& id) {
  if (id == "bytes") return of.bytes;
  if (id == "objects") return of.objects;
  if (id == "share") return of.share;
  const auto samples = static_cast<double>(of.samples);
  return {samples, samples, samples};
}

}  // namespace

FlameGraph MakeFlameGraph(const FlameScan& scan) {
  FlameGraph graph;
  graph.figures = FiguresOf(scan.scan());
  std::vector<double> bytes;
  for (const GroupEstimates& of : scan.estimates()) bytes.push_back(of.bytes.value);
  const std::vector<FlameBoxTree::BoxId> shown = scan.boxes().Preorder(bytes);
  FlameAssembly assembly(&scan.calls().names(), &scan.leaves());
  graph.boxes = assembly.Boxes(scan.boxes(), shown);
  for (const FlameFigure& figure : graph.figures) {
    std::vector<Estimate>& column = graph.estimates.emplace_back();
    for (const FlameBoxTree::BoxId box : shown) column.push_back(FigureOf(scan.estimates()[box], figure.id));
  }
  graph.names = assembly.TakeNames();
  return graph;
}

}  // namespace heaprec::tools
